package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.foreign.ForeignFile;
import dev.nexa.slurm.job.config.foreign.HetComponents;
import dev.nexa.slurm.job.config.foreign.SbatchHeader;
import dev.nexa.slurm.job.config.foreign.SbatchHeader.Unread;
import dev.nexa.slurm.job.config.foreign.SbatchLogs;
import dev.nexa.slurm.job.config.foreign.SbatchVariables;
import dev.nexa.slurm.job.config.foreign.ScriptConfig;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.run.Overrides;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A script that was typed in place of a config. Its config is made from the options; {@code --save}
 * keeps it as a file.
 *
 * @param command prints the lines about the config
 * @param args the script's arguments
 * @param options the values of options such as {@code --nodes}, by their names
 * @param set the values of {@code --set} alone
 * @param beside the values of options that no config can hold, such as {@code --dependency}; empty
 *     for an option that the command does not need
 * @param sbatch the command line of sbatch; empty for a command line of ours
 * @param wrap the command that was typed in place of a script
 */
record FromScript(
    Context context,
    Subcommand command,
    String script,
    List<String> args,
    Map<String, String> options,
    List<String> set,
    Map<String, String> beside,
    Optional<SbatchLine> sbatch,
    Optional<String> wrap) {
  private static final List<String> SCRIPTS = List.of(".py", ".sh", ".bash", ".slurm", ".sbatch");

  /** The beginnings of keys that count the same. */
  private static final List<String> SAME =
      List.of(
          "resources.gpus", "resources.memory", "resources.cpus_per_", "array.(shards|indices)");

  /** The options that name files for the output. */
  private static final Set<String> LOGS = Set.of("--output", "--error", "--open-mode");

  /**
   * Returns a request that runs the script.
   *
   * @param request the request as it was typed
   * @param save the file that keeps the config; empty for none
   * @throws NexaException if the script is missing, or if the config cannot be saved
   */
  Prepared.Request request(Prepared.Request request, Optional<String> save) {
    ConfigSource.Found found = found();
    SbatchHeader header =
        sbatch.isPresent()
            ? sbatch.get().header()
            : SbatchHeader.of(
                found.text(), SbatchVariables.words(context.environment()), List.of());
    Map<String, String> lines = lines(header);
    Map<String, String> all = new LinkedHashMap<>(lines);
    all.putAll(options);
    Map<String, String> shape = shape(keys(all));
    ScriptConfig.Start start = start(found, shape);
    if (start == ScriptConfig.Start.PYTHON) {
      // One process on each node is what our backends start.
      lines.remove("resources.ntasks_per_node", "1");
      lines.remove("resources.ntasks", shape.getOrDefault("resources.nodes", "1"));
      all.keySet()
          .retainAll(Stream.concat(lines.keySet().stream(), options.keySet().stream()).toList());
    }
    List<Unread> unread = new ArrayList<>(header.unread());
    if (!header.components().isEmpty()) {
      shape.putAll(HetComponents.keys(header, keys(all)));
      unread.addAll(HetComponents.unread(header));
    }
    String name = script.substring(script.lastIndexOf('/') + 1);
    SbatchLogs logs = start == ScriptConfig.Start.PYTHON ? SbatchLogs.NONE : logs(header, name);
    if (start != ScriptConfig.Start.PYTHON) {
      unread.removeIf(one -> LOGS.contains(one.name()));
    }
    if (sbatch.isPresent()) {
      unread.removeIf(one -> SbatchLine.OWN.contains(one.name()) && !isWrapOfScript(one));
    }
    requireTaken(unread);
    tell(header, unread, lines, all);
    where(found, start).forEach(shape::putIfAbsent);
    List<String> before = before(header, all);
    if (save.isPresent()) {
      Path file = Path.of(save.get().isEmpty() ? yamlName(name) : save.get());
      if (!file.toString().matches(".*\\.ya?ml")) {
        throw Subcommand.invalid(
            "--save " + file + ": expected the name of a config, which ends with .yaml",
            "type --save " + yamlName(name));
      }
      String path = wrap.isPresent() ? script : below(file, found);
      Map<String, String> values = keptValues(request, all, shape);
      return saved(request, file, new ScriptConfig(path, start, words(), logs, before, values));
    }
    shape.putAll(keys(lines));
    ScriptConfig config = new ScriptConfig(name, start, words(), logs, before, shape);
    if (sbatch.isEmpty() && !Files.exists(Path.of(config.stem() + ".yaml"))) {
      String words = Advice.command("", "--save", config.stem() + ".yaml").toString();
      command.note("to keep this as a config, add " + words);
    }
    tellStage(config);
    return request.made(
        new ConfigSource.Found(found.name(), config.yaml(), found.path(), places(header, lines))
            .keeping(name, sbatch.flatMap(SbatchLine::input)));
  }

  /** Returns the script: a file, standard input, or no text for a command. */
  private ConfigSource.Found found() {
    Optional<byte[]> input =
        wrap.isPresent() ? Optional.of(new byte[0]) : sbatch.flatMap(SbatchLine::input);
    return input.isPresent()
        ? new ConfigSource.Found(script, input.get(), Optional.of(Path.of(script).toAbsolutePath()))
        : context.source().file(script);
  }

  /** Returns the script's arguments, or the command that is typed in its place. */
  private List<String> words() {
    return wrap.isPresent() ? List.of(wrap.get()) : args;
  }

  /** Returns the error for a word beside a command that is typed in place of a script. */
  static NexaException noArguments(String word) {
    return Subcommand.conflict(
        "'" + word + "': --wrap takes no script, no config and no arguments",
        "write the arguments into the command");
  }

  /** Returns where the output goes besides our log. sbatch always writes a file. */
  private SbatchLogs logs(SbatchHeader header, String name) {
    Map<String, String> files = header.others();
    boolean array = header.options().containsKey("--array");
    String usual = sbatch.isEmpty() ? "" : array ? "slurm-%A_%a.out" : "slurm-%j.out";
    return new SbatchLogs(
        files.getOrDefault("--output", usual),
        files.getOrDefault("--error", ""),
        files.getOrDefault("--open-mode", "").startsWith("a"),
        header.title().isEmpty() ? name : header.title());
  }

  /**
   * Returns what starts the script.
   *
   * @throws NexaException if torchrun would ignore its first line, or if it has the line ends of
   *     Windows, which sbatch refuses too
   */
  private ScriptConfig.Start start(ConfigSource.Found found, Map<String, String> shape) {
    if (wrap.isPresent()) {
      return ScriptConfig.Start.COMMAND;
    }
    Optional<String> program = ScriptConfig.interpreter(found.text());
    if (sbatch.isPresent()) {
      return ScriptConfig.Start.KERNEL;
    }
    if (script.endsWith(".py") || program.map(name -> name.startsWith("python")).orElse(false)) {
      Optional<String> own = ScriptConfig.ownPython(found.text());
      boolean chosen = set.stream().anyMatch(one -> one.startsWith("software."));
      return own.isEmpty() || chosen ? ScriptConfig.Start.PYTHON : ownPython(own.get(), shape);
    }
    if (found.text().contains("\r\n")) {
      throw ErrorCode.OPTION_INVALID.error(
          script + " has the line ends of Windows, and bash takes them for parts of the commands",
          Advice.command("", "sed", "-i", "s/\\r$//", script));
    }
    return program.isPresent() ? ScriptConfig.Start.KERNEL : ScriptConfig.Start.BASH;
  }

  /**
   * Returns what starts a script whose first line names a Python of its own. That Python starts one
   * process; several need torchrun of an environment.
   */
  private ScriptConfig.Start ownPython(String python, Map<String, String> shape) {
    if (ScriptConfig.isAlone(shape)) {
      return ScriptConfig.Start.KERNEL;
    }
    throw Subcommand.invalid(
        ("%s:1: the first line names %s, but torchrun starts the processes of several GPUs or"
                + " nodes with its own Python")
            .formatted(script, python),
        "write #!/usr/bin/env python3 in this line",
        "or name the environment: --set software.venv=DIR, or --set software.conda=NAME");
  }

  /** Returns the name of the config that is made from a script. */
  static String yamlName(String script) {
    return script.substring(script.lastIndexOf('/') + 1).replaceFirst("(?<=.)\\.[^.]*$", "")
        + ".yaml";
  }

  /** Returns the values of a config that is kept: of all options, and of the cluster. */
  private Map<String, String> keptValues(
      Prepared.Request request, Map<String, String> all, Map<String, String> shape) {
    Map<String, String> values = keys(all);
    shape.forEach(values::putIfAbsent);
    // NEXA_CLUSTER is a person's choice, and another person may run the config.
    String cluster = Prepared.clusterName(context);
    if (request.cluster().isPresent() || !cluster.equals("default")) {
      values.put("cluster", request.cluster().orElse(cluster));
    }
    return values;
  }

  /** Writes the config, and returns a request that reads it. */
  private Prepared.Request saved(Prepared.Request request, Path file, ScriptConfig made) {
    ScriptConfig config = made;
    List<String> left = new ArrayList<>();
    for (String one : set) {
      Optional<ScriptConfig> more = config.with(one);
      config = more.orElse(config);
      if (more.isEmpty()) {
        left.add(one);
      }
    }
    String yaml = config.yaml();
    requireNoSecret(file, yaml);
    boolean written = write(file, yaml);
    List<String> more = new ArrayList<>();
    left.forEach(one -> more.addAll(List.of("--set", one)));
    request.from().forEach(one -> more.addAll(List.of("--from", one)));
    if (request.sameNode()) {
      more.add("--same-node");
    }
    beside.forEach(
        (name, value) -> more.addAll(value.isEmpty() ? List.of() : List.of(name, value)));
    List<String> again = new ArrayList<>(List.of("nexa-slurm", "submit", file.toString()));
    again.addAll(more);
    tellStage(config);
    String lacks = more.isEmpty() ? ": " : ", which does not hold " + Script.shellLine(more) + ": ";
    String line = file + lacks + Script.shellLine(again) + " runs it again";
    command.err().println(command.advised((written ? "wrote " : "found ") + line));
    return new Prepared.Request(file.toString(), left, request.cluster())
        .reading(request.from(), request.sameNode());
  }

  /** Returns where the values of {@code #SBATCH} lines are written, by the keys that they set. */
  private Map<String, Position> places(SbatchHeader header, Map<String, String> lines) {
    Map<String, Position> places = new HashMap<>();
    lines.forEach(
        (option, value) -> {
          int line = header.lines().getOrDefault(option, 0);
          Position place = new Position(place(line, option), 0, 0);
          Overrides.keys(option, value).keySet().forEach(key -> places.put(key, place));
        });
    return places;
  }

  /**
   * Returns the lines of shell that give a script the variables that sbatch gives it. Without them,
   * variables of options that only our job script has would reach the script's srun.
   */
  private List<String> before(SbatchHeader header, Map<String, String> all) {
    List<String> before = new ArrayList<>();
    String title =
        header.title().isEmpty() ? script.substring(script.lastIndexOf('/') + 1) : header.title();
    String name = options.getOrDefault("--name", title);
    before.add("export SLURM_JOB_NAME=" + Script.shellLine(List.of(name)));
    if (!all.containsKey("--cpus")) {
      // From Slurm 23.11 on, --cpus-per-task is there too.
      boolean byTask = all.containsKey("resources.gpus_per_task");
      before.add("unset SLURM_CPUS_PER_TASK" + (byTask ? "" : " SLURM_TRES_PER_TASK"));
    }
    String gpus = all.getOrDefault("--gpus", "");
    Unread counted = header.origins().get("--gpus");
    if (counted != null && counted.name().equals("--gres") && !options.containsKey("--gpus")) {
      before.add("unset SLURM_GPUS_PER_NODE");
    } else if (gpus.matches("\\d+")) {
      before.add("export SLURM_GPUS_PER_NODE=" + gpus + " # without the type");
    }
    return before;
  }

  /**
   * Returns the keys that let the script find the same files as when it is typed by hand. It starts
   * in this folder, as with sbatch, and Python finds the modules beside it.
   */
  private static Map<String, String> where(ConfigSource.Found found, ScriptConfig.Start start) {
    if (found.path().isEmpty()) {
      return Map.of();
    }
    Path file = found.path().get().toAbsolutePath().normalize();
    Map<String, String> where = new LinkedHashMap<>();
    where.put("workdir", Path.of("").toAbsolutePath().toString());
    if (start == ScriptConfig.Start.PYTHON) {
      where.put("env.PYTHONPATH", file.resolveSibling("").normalize().toString());
    }
    return where;
  }

  /** Returns the options of the {@code #SBATCH} lines that no typed option replaces. */
  private Map<String, String> lines(SbatchHeader header) {
    Map<String, String> lines = new LinkedHashMap<>();
    Path here = Path.of("").toAbsolutePath();
    Map<String, String> written = header.options();
    written.forEach(
        (option, value) -> {
          Set<String> keys = Overrides.keys(option, value).keySet();
          if (!options.containsKey(option) && keys.stream().noneMatch(this::isGiven)) {
            boolean folder = option.equals("workdir");
            lines.put(option, folder ? here.resolve(value).normalize().toString() : value);
          }
        });
    return lines;
  }

  /** Returns whether a person typed this key, or another one that counts the same. */
  private boolean isGiven(String key) {
    List<String> given = new ArrayList<>(set);
    options.forEach((option, value) -> given.add(Overrides.OPTIONS.getOrDefault(option, "") + "="));
    return isSet(key)
        || SAME.stream()
            .filter(family -> (key + "=").matches(family + ".*"))
            .anyMatch(
                family -> given.stream().anyMatch(one -> one.matches("(?s)" + family + ".*")));
  }

  private boolean isSet(String key) {
    return set.stream().anyMatch(one -> one.startsWith(key + "="));
  }

  /** Returns whether a script holds another command in place of itself. */
  private static boolean isWrapOfScript(Unread option) {
    return option.name().equals("--wrap") && option.line() > 0;
  }

  /** Returns whether a person typed what an option of the script says. */
  private boolean isTyped(Unread option) {
    String ours = option.ours();
    if (ours.equals("--array")) {
      return isSet("array.shards") || isSet("array.indices");
    }
    String key = Overrides.OPTIONS.get(ours);
    String start = key == null ? ours + (ours.endsWith(".") ? "" : "=") : key + "=";
    return !ours.isEmpty()
        && (options.containsKey(ours)
            || beside.containsKey(ours)
            || set.stream().anyMatch(one -> one.startsWith(start)));
  }

  /**
   * Throws if an option that we cannot take changes the job: without it, the script would run on
   * other resources, or do a part of its work, and end well.
   */
  private void requireTaken(List<Unread> unread) {
    List<Unread> refused = unread.stream().filter(one -> one.refused() && !isTyped(one)).toList();
    if (refused.isEmpty()) {
      return;
    }
    Unread first = refused.get(0);
    List<Advice> steps = new ArrayList<>();
    for (Unread one : refused) {
      String line = one.line() > 0 ? " (line " + one.line() + ")" : "";
      String label = refused.size() == 1 ? "" : one.text() + line + ": ";
      steps(one).forEach(step -> steps.add(Advice.step(label + step)));
    }
    steps.add(
        Advice.command(
            "shows what becomes of each option", "nexa-slurm", "explain", "docs/migration.md"));
    // Such as job.sh:2: #SBATCH --gpus=8
    String begins = first.text().startsWith("#") || first.line() <= 0 ? "" : "#SBATCH ";
    String place = place(first.line(), "sbatch") + ": " + begins + first.text();
    String more = refused.size() == 1 ? "" : "; " + (refused.size() - 1) + " more below";
    throw ErrorCode.OPTION_INVALID.error(place + ": " + first.reason() + more, steps);
  }

  private static List<String> steps(Unread option) {
    return option.ours().equals("--array")
        ? List.of(
            "add --set array.indices=1-10, or another list, to the command",
            "or add --set array.shards=N; the script then reads NEXA_TASK, from 0, and NEXA_TASKS")
        : List.of(option.step());
  }

  /** Returns where an option is written: a line of the script, a variable, else its name. */
  private String place(int line, String option) {
    return line > 0 ? script + ":" + line : line < 0 ? SbatchVariables.name(line) : option;
  }

  private void tell(
      SbatchHeader header,
      List<Unread> unread,
      Map<String, String> lines,
      Map<String, String> all) {
    Map<String, List<String>> read = new LinkedHashMap<>();
    lines.forEach(
        (option, value) -> {
          int line = header.lines().getOrDefault(option, 0);
          String from = line > 0 ? "the #SBATCH lines of " + script : place(line, "");
          List<String> words = read.computeIfAbsent(from, none -> new ArrayList<>());
          if (Overrides.OPTIONS.containsKey(option) || option.equals("--array")) {
            words.addAll(List.of(option, value));
          } else {
            Overrides.keys(option, value)
                .forEach((key, one) -> words.addAll(List.of("--set", key + "=" + one)));
          }
        });
    read.remove(""); // the person typed it
    read.forEach((from, words) -> command.note("from " + from + ": " + Script.shellLine(words)));
    if (!unread.isEmpty()) {
      command.note(
          "these %s of %s are not used: %s"
              .formatted(
                  sbatch.isPresent() || wrap.isPresent() ? "options" : "#SBATCH options",
                  sbatch.isPresent() || wrap.isPresent() ? "sbatch" : script,
                  unread.stream().map(this::withReason).collect(Collectors.joining(" "))));
    }
    if (!all.containsKey("--time") && !isSet("resources.time")) {
      command.note("no --time was typed: the time limit is " + ScriptConfig.DEFAULT_TIME);
    }
  }

  /** Returns an option of sbatch as it was written, and why the job is the same without it. */
  private String withReason(Unread option) {
    String ours = option.ours();
    boolean typed = !beside.getOrDefault(ours, "typed").isEmpty() || ours.equals("--cluster");
    String reason =
        !option.refused()
            ? option.reason()
            : typed
                ? "you typed " + (ours.startsWith("--") ? ours : "--set " + ours)
                : option.step();
    String written = option.line() < 0 ? SbatchVariables.name(option.line()) : option.text();
    return written + (reason.isEmpty() ? "" : " (" + reason + ")");
  }

  private void tellStage(ScriptConfig config) {
    if (!isSet("stage")) {
      String why = config.stage().equals(ScriptConfig.OTHER) ? "" : ", by the script's name";
      command.note("the stage is " + config.stage() + why + "; --set stage=NAME changes it");
    }
  }

  /**
   * Returns the values that decide which lines the config has. The other typed values stay
   * overrides, so that a message names the option.
   */
  private Map<String, String> shape(Map<String, String> keys) {
    Map<String, String> shape = new LinkedHashMap<>();
    List<String> all = new ArrayList<>(set);
    keys.forEach((key, value) -> all.add(key + "=" + value));
    for (String one : all) {
      for (String key : List.of("resources.nodes", "resources.gpus_per_node")) {
        if (one.startsWith(key + "=") && one.substring(key.length() + 1).matches("\\d{1,6}")) {
          shape.put(key, one.substring(key.length() + 1));
        }
      }
    }
    return shape;
  }

  /** Returns the values of options, by the keys that they set. */
  private static Map<String, String> keys(Map<String, String> options) {
    Map<String, String> keys = new LinkedHashMap<>();
    options.forEach((option, value) -> keys.putAll(Overrides.keys(option, value)));
    return keys;
  }

  /** Returns the script's path as the config names it: relative to the config's folder. */
  private String below(Path config, ConfigSource.Found found) {
    Path folder = config.toAbsolutePath().normalize().getParent();
    if (found.path().isEmpty() || folder == null) {
      throw Subcommand.invalid(
          "--save: " + found.name() + " is a file of the jar, and a config names files beside it");
    }
    Path real = found.path().get().toAbsolutePath().normalize();
    if (!real.startsWith(folder)) {
      throw Subcommand.invalid(
          "--save %s: a config lies in its script's folder or above, and %s is not below %s"
              .formatted(config, real, folder),
          "name a file in " + real.getParent());
    }
    return folder.relativize(real).toString();
  }

  /** Throws if the config holds a secret, such as a token among the arguments. */
  private void requireNoSecret(Path file, String yaml) {
    ConfigSource.Found made =
        new ConfigSource.Found(
            file.toString(), yaml.getBytes(StandardCharsets.UTF_8), Optional.of(file));
    try {
      String cluster = Prepared.clusterName(context);
      context
          .configs()
          .run(made, List.of(), FromRuns.NONE, Optional.empty(), Optional.empty(), cluster);
    } catch (ConfigException wrong) {
      if (wrong.problems().stream().anyMatch(one -> one.code() == ErrorCode.CONFIG_HOLDS_SECRET)) {
        throw wrong;
      }
      // The command reports the other problems, when the file exists.
    }
  }

  /** Writes the config. Returns false if the file holds it already: the same line typed again. */
  private boolean write(Path file, String yaml) {
    if (Files.exists(file)) {
      if (yaml.equals(text(file))) {
        return false;
      }
      throw ErrorCode.OPTION_INVALID.error(
          "--save: " + file + " exists already",
          Advice.command(
              "runs it as it is, without the options that you typed", "nexa-slurm", "submit", file),
          Advice.step("or name another file; or, to replace it, delete it first"));
    }
    context
        .workspace()
        .files()
        .replace(file.toAbsolutePath(), yaml.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
    return true;
  }

  /** Returns the file's text; empty if it cannot be read as a text. */
  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      return "";
    }
  }

  /** Returns whether the name ends as a script's name does. */
  static boolean hasScriptName(String path) {
    return SCRIPTS.stream().anyMatch(path::endsWith);
  }

  /**
   * Returns whether the path names a script: by its ending, or by {@code #!} in its first line.
   *
   * @throws NexaException if the file is neither a config nor a script
   */
  static boolean isScript(ConfigSource source, String path) {
    if (hasScriptName(path)) {
      return true;
    }
    if (!Files.isRegularFile(Path.of(path))
        && !Files.isRegularFile(source.workspace().resolve(path))) {
      return false;
    }
    ForeignFile.requireConfig(path, ForeignFile.RUN);
    return ScriptConfig.interpreter(source.file(path).text()).isPresent();
  }
}
