package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.foreign.SbatchVariables;
import dev.nexa.slurm.job.config.foreign.SbatchWords;
import dev.nexa.slurm.job.config.run.Overrides;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The options that submit, estimate and render share: the config and its overrides. */
public final class ConfigOptions {
  /** Options that people know from sbatch: names with the label of the value, description. */
  private static final String[][] FLAGS = {
    {"-N, --nodes N", "Nodes of each task."},
    {"--gpus [TYPE:]N", "GPUs on each node (not of the whole job), such as 4 or h100:4."},
    {"-c, --cpus N", "CPUs on each node."},
    {"--mem SIZE", "Memory on each node, with its unit, such as 64G."},
    {"-t, --time LIMIT", "Time limit, such as 90m, 12h or 1-12:00:00."},
    {"-p, --partition NAME", "The partition."},
    {"-A, --account NAME", "The Slurm account to charge."},
    {"--backend NAME", "The backend, such as shell, python or accelerate."},
    {"-J, --name NAME", "The run's name in reports."},
  };

  private static final String CONFIG =
      "The run's YAML file: here, in the workspace, or in the jar.";

  private final Subcommand command;
  private final PositionalParamSpec config;
  private final OptionSpec overrides;
  private final OptionSpec cluster;
  private final OptionSpec from;
  private final OptionSpec sameNode;
  private final OptionSpec local;
  private final List<OptionSpec> flags = new ArrayList<>();
  private @Nullable PositionalParamSpec args;
  private @Nullable OptionSpec save;
  private @Nullable OptionSpec wrap;

  public ConfigOptions(Subcommand command) {
    this(command, CONFIG + " Or a script (.py, .sh).");
    args = command.moreParameters("ARGS", "After --: the arguments of a script.");
    save =
        command.openOption(
            "--save FILE",
            "For a script: writes its config to FILE, and uses FILE. Default: the script's name with .yaml, in this folder.");
    wrap =
        command.option(
            "--wrap COMMAND",
            "In place of CONFIG: runs a command with sh, as sbatch's option does.");
    ArgGroupSpec.Builder group =
        ArgGroupSpec.builder()
            .validate(false)
            .exclusive(false)
            .multiplicity("0..1")
            .heading("%nThe same as --set of a key:%n");
    for (String[] flag : FLAGS) {
      OptionSpec option =
          Subcommand.builder(flag[0]).type(String.class).description(flag[1]).build();
      flags.add(option);
      group.addArg(option);
    }
    command.spec().addArgGroup(group.build());
  }

  private ConfigOptions(Subcommand command, String description) {
    this.command = command;
    config = command.optionalParameter("CONFIG", description);
    overrides =
        command.options(
            "--set KEY=VALUE", "Overrides a key, such as resources.nodes=2; may be given often.");
    cluster =
        command.option(
            "--cluster NAME",
            "Uses the profile configs/clusters/NAME.yaml. Default: the config's `cluster`, else NEXA_CLUSTER, else `default`.");
    from =
        command.options(
            "--from [NAME=]RUN",
            "An earlier run whose files the new run reads: $${stages.NAME.output} and $${stages.NAME.checkpoint} in the config,"
                + " or $${checkpoint} without a NAME. The new run waits for it. May be given often.");
    sameNode =
        command.flag("--same-node", "With --from: runs on the nodes of that run's last attempt.");
    local = command.flag("--local", "Runs on this machine, without Slurm.");
  }

  /** Adds the options to a command that takes no script. */
  public static ConfigOptions withoutScript(Subcommand command) {
    return new ConfigOptions(command, CONFIG);
  }

  /** Returns the config as it was typed. */
  public String typed() {
    return config.getValue();
  }

  /** Returns whether a config was given. */
  public boolean given() {
    return config.getValue() != null;
  }

  /**
   * Returns the request that was typed. For a script, prints what its config is, and writes the
   * config if the user asked for that.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if options contradict each other
   */
  public Prepared.Request request(Context context) {
    if (Subcommand.given(sameNode) && from.<List<String>>getValue().isEmpty()) {
      throw Subcommand.conflict("--same-node needs --from RUN");
    }
    if (Subcommand.given(local) && cluster.getValue() != null) {
      throw Subcommand.conflict(
          "--local and --cluster " + cluster.getValue() + " name different clusters",
          "leave one of them out");
    }
    Optional<String> typed = wrap == null ? Optional.empty() : Subcommand.value(wrap);
    if (typed.isPresent()) {
      if (config.getValue() != null) {
        throw FromScript.noArguments(config.getValue());
      }
      return fromScript(context, "wrap", Optional.empty(), typed);
    }
    String path = config.getValue();
    if (path == null) {
      throw new MissingParameterException(
          command.spec().commandLine(), config, "Missing required parameter: 'CONFIG'");
    }
    boolean plain = path.endsWith(".yaml") || path.endsWith(".yml");
    if (!plain || !args().isEmpty()) {
      requireNoOtherWords();
    }
    // An ordinary submit loads no class for scripts.
    if (!plain && args != null && FromScript.isScript(context.source(), path)) {
      return fromScript(context, path, Optional.empty(), Optional.empty());
    }
    requireNoScriptOptions();
    // A config says all itself. The class is loaded only if there is such a variable.
    if (context.environment().keySet().stream().anyMatch(name -> name.startsWith("SBATCH_"))) {
      for (SbatchWords.Word word : SbatchVariables.words(context.environment())) {
        String variable = SbatchVariables.name(word.line());
        command.note(variable + " is not used: a config says what the job gets");
      }
    }
    return typed(path);
  }

  /** Returns the request with the options that were typed. */
  private Prepared.Request typed(String path) {
    List<String> all = new ArrayList<>(overrides.getValue());
    flags().forEach((key, value) -> all.add(key + "=" + value));
    Optional<String> profile =
        Subcommand.given(local) ? Optional.of("local") : Subcommand.value(cluster);
    return new Prepared.Request(path, all, profile)
        .reading(from.getValue(), Subcommand.given(sameNode));
  }

  private Prepared.Request fromScript(
      Context context, String path, Optional<SbatchLine> line, Optional<String> typed) {
    List<String> words = line.isPresent() ? line.get().args() : args();
    List<String> set = overrides.getValue();
    return new FromScript(context, command, path, words, flags(), set, beside(), line, typed)
        .request(typed(path), Optional.ofNullable(saved()));
  }

  /** Returns the command line of sbatch that stands in place of a config. */
  public SbatchLine sbatchLine(Context context) {
    return SbatchLine.of(context, args(), RootCommand.of(command.spec())::input);
  }

  /** Returns the request of a command line of sbatch. */
  public Prepared.Request request(Context context, SbatchLine line) {
    return fromScript(context, line.script(), Optional.of(line), line.wrap());
  }

  /**
   * Returns the options that no config can hold, by their names; without a value those that a
   * script's line need not repeat.
   */
  private Map<String, String> beside() {
    Map<String, String> beside = new LinkedHashMap<>();
    OptionSpec dependency = command.spec().findOption("--dependency");
    String other = dependency == null ? "" : dependency.getValue();
    if (other != null) {
      beside.put("--dependency", other);
    }
    if (cluster.getValue() != null) {
      beside.put("--cluster", "");
    }
    return beside;
  }

  /** Throws if the words are a launcher's command, or if a word before {@code --} is none. */
  private void requireNoOtherWords() {
    List<String> all = command.spec().commandLine().getParseResult().originalArgs();
    List<String> typed = new ArrayList<>(args());
    typed.add(0, config.getValue());
    Optional<NexaException> refusal =
        LauncherWords.refusal(command.spec(), all)
            .or(() -> StrayWords.refusal(command.spec(), all, typed));
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  private void requireNoScriptOptions() {
    if (!args().isEmpty()) {
      throw Subcommand.conflict(
          "'%s': only a script takes arguments, and %s is a config"
              .formatted(args().get(0), config.getValue()),
          args().get(0).matches(".*\\.ya?ml")
              ? "type one command for each config"
              : "write them into entrypoint.args of " + config.getValue() + onceOnly());
    }
    if (saved() != null) {
      throw Subcommand.conflict(
          ("--save " + saved()).strip() + ": " + config.getValue() + " is a config already",
          "--save keeps the config of a script (.py or .sh)");
    }
  }

  /** Returns how to pass the arguments once; empty if YAML would need quotes. */
  private String onceOnly() {
    String all = String.join(",", args());
    return all.matches("[A-Za-z0-9_./=,+-]+")
        ? ", or for this run type: --set 'entrypoint.args=[" + all + "]'"
        : "";
  }

  /** Returns the values of the options in {@link #FLAGS} that were typed, by their names. */
  private Map<String, String> flags() {
    Map<String, String> typed = new LinkedHashMap<>();
    for (OptionSpec flag : flags) {
      String value = flag.getValue();
      if (value != null) {
        requireNotSet(flag.longestName(), value);
        requireCount(flag.longestName(), value);
        typed.put(flag.longestName(), value);
      }
    }
    return typed;
  }

  private void requireNotSet(String option, String value) {
    List<String> set = overrides.getValue();
    for (String key : Overrides.keys(option, value).keySet()) {
      for (String one : set) {
        if (one.startsWith(key + "=")) {
          throw Subcommand.conflict(
              option + " " + value + " and --set " + one + " both set " + key,
              "leave one of them out");
        }
      }
    }
  }

  /** Throws if the type of GPUs and their number are typed in another form than TYPE:N. */
  private static void requireCount(String option, String value) {
    String ours =
        value
            .replaceFirst("^gpus?:", "")
            .replaceFirst("^(\\d+)(?:[x*:,= ]|(?=[A-Za-z]+\\d+$))([A-Za-z][\\w.-]*)$", "$2:$1")
            .replaceFirst("^([A-Za-z]+\\d+\\w*?)[x*,= ](\\d+)$", "$1:$2")
            .replaceFirst("^([A-Za-z]+\\d[\\w.-]*)$", "$1:1");
    if (!option.equals("--gpus") || ours.equals(value)) {
      return;
    }
    String type = ours.replaceFirst(":?\\d+$", "");
    throw Subcommand.invalid(
        "--gpus " + value + ": expected N or TYPE:N for each node, such as 2 or h100:2",
        "type --gpus "
            + ours
            + (type.isEmpty() ? "" : ", if the cluster has GPUs of the type " + type));
  }

  /** Returns the arguments of a script, or the words of a command line of sbatch. */
  public List<String> args() {
    return args == null ? List.of() : args.getValue();
  }

  private @Nullable String saved() {
    return save == null ? null : save.getValue();
  }
}
