package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DeniedAccess;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.WorkspaceSearch;
import dev.nexa.slurm.records.runs.WorkspaceSearch.Here;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The command {@code nexa-slurm} itself, with the options that all commands share. */
public final class RootCommand implements Runnable {
  /** The names of all commands, in the order of the help text. */
  public static final List<String> NAMES =
      List.of(
          ("look submit estimate approve approvals render status logs why summary monitor"
                  + " postmortem shell cancel interrupt rerun reconcile audit cron notify"
                  + " runs usage costs report prices policy serve pipeline data eval datasets"
                  + " lineage release storage cleanup archive sync halt unhalt init doctor diag"
                  + " bootstrap explain")
              .split(" ", -1));

  private static final Path HERE = Path.of("").toAbsolutePath();

  private final Map<String, String> environment;
  private final Path here;
  private final @Nullable InputStream keyboard;
  private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);

  private final OptionSpec workspace =
      OptionSpec.builder("--workspace")
          .paramLabel("DIR")
          .type(Path.class)
          .scopeType(ScopeType.INHERIT)
          .description(
              "The folder that holds runs and configs. Default: NEXA_WORKSPACE, else this folder or the"
                  + " nearest folder above it with .nexa/, configs/policy.yaml or"
                  + " configs/clusters/.")
          .build();

  private final OptionSpec stacktrace =
      OptionSpec.builder("--stacktrace")
          .type(boolean.class)
          .initialValue(false)
          .scopeType(ScopeType.INHERIT)
          .description("Shows where in the program an error came from.")
          .build();

  private final OptionSpec licences =
      OptionSpec.builder("--licenses")
          .type(boolean.class)
          .initialValue(false)
          .description("With --version: prints each library in this program and its licence.")
          .build();

  /**
   * Makes the command.
   *
   * @param here the folder in which the user typed the command
   * @param keyboard where a person's answers come from; null if nobody can be asked
   */
  public RootCommand(Map<String, String> environment, Path here, @Nullable InputStream keyboard) {
    this.environment = environment;
    this.here = here;
    this.keyboard = keyboard;
    spec.name("nexa-slurm")
        .versionProvider(new VersionText(licences))
        .addOption(licences)
        .addOption(Subcommand.help())
        .addOption(Subcommand.version())
        .addOption(workspace)
        .addOption(stacktrace);
    spec.usageMessage()
        .description(
            "Estimates the cost of a Slurm job, submits the job exactly once, and records its actual cost.")
        .synopsisSubcommandLabel("COMMAND")
        .footerHeading("%nExit status:%n")
        .footer(
            "  0 done; 1 a defect or an I/O failure; 2 the command line or a config is wrong;",
            "  3 needs an approval or is over a budget (or estimate's --fail-over): nothing was submitted;",
            "  4 the scheduler refused or can't be reached; 5 --wait: the run failed,",
            "  serve: the server did not get ready; 6 a gate failed; 130 Ctrl-C while waiting: the job goes on.",
            "",
            "Help on a command:  nexa-slurm help COMMAND",
            "An error ends with its code in brackets:  nexa-slurm explain CODE",
            "Start on a cluster:  nexa-slurm look",
            "Start anywhere:  nexa-slurm submit configs/data/quickstart.yaml --local --wait");
  }

  public CommandSpec spec() {
    return spec;
  }

  /** Returns the user's variables. */
  Map<String, String> environment() {
    return environment;
  }

  @Override
  public void run() {
    if (licences.<Boolean>getValue()) {
      spec.commandLine().printVersionHelp(spec.commandLine().getOut());
      return;
    }
    throw new ParameterException(spec.commandLine(), "a command is needed");
  }

  /**
   * Returns the workspace.
   *
   * @throws NexaException if there is none
   */
  Context existing() {
    Context context = context();
    if (context.missing().isPresent()) {
      throw Context.noWorkspace(context.missing().get());
    }
    named().ifPresent(this::requireNoneNear);
    return context;
  }

  /**
   * Throws if the named folder is not a workspace, but a folder above or directly in it is one: its
   * records would be missing without a word.
   */
  private void requireNoneNear(Path folder) {
    Optional<Path> near = WorkspaceSearch.near(folder);
    if (near.isPresent()) {
      throw ErrorCode.WORKSPACE_NOT_FOUND.error(
          folder.toAbsolutePath().normalize() + " is not a workspace; the nearest is " + near.get(),
          nearest(folder, near.get()));
    }
  }

  private Advice nearest(Path named, Path near) {
    return workspace.getValue() == null
        ? Advice.command("names the nearest", "export", "NEXA_WORKSPACE=" + near)
        : Advice.instead(named.toString(), near.toString());
  }

  /**
   * Returns the workspace; without one, this folder.
   *
   * @throws NexaException if there is no workspace and other users can put files into this folder
   */
  Context forRuns() {
    Context context = context();
    if (context.missing().isPresent() && context.missing().get().here() != Here.OURS) {
      throw Context.noWorkspace(context.missing().get());
    }
    return context;
  }

  /**
   * Returns the workspace; without one, this folder and the reason why it is not a workspace.
   *
   * @throws NexaException if the user named a folder that does not exist
   */
  Context context() {
    Optional<Path> named = named();
    if (named.isPresent()) {
      requireReachable(named.get());
      if (!Files.isDirectory(named.get())) {
        List<Advice> advice = new ArrayList<>();
        boolean typed = workspace.getValue() != null;
        if (!typed) {
          String right = "this folder's workspace counts then; or export the path that is right";
          advice.add(Advice.command(right, "unset", "NEXA_WORKSPACE"));
        }
        Optional<Path> near = WorkspaceSearch.near(named.get());
        near.ifPresent(it -> advice.add(nearest(named.get(), it)));
        if (typed && near.isEmpty()) {
          advice.add(Advice.step("name one that exists: --workspace DIR, or NEXA_WORKSPACE=DIR"));
        }
        // Instead of a variable's, a new one would have no budgets and no approvers.
        if (typed && !Files.exists(named.get())) {
          advice.add(
              Advice.command(
                  "makes a new one; look first whether its file system is mounted",
                  "nexa-slurm",
                  "init",
                  "--workspace",
                  named.get()));
        }
        throw ErrorCode.WORKSPACE_NOT_FOUND.error(
            "there is no workspace "
                + named.get().toAbsolutePath().normalize()
                + (Files.exists(named.get()) ? ": it is not a folder" : "")
                + (typed ? "" : " (NEXA_WORKSPACE)"),
            advice);
      }
      return new Context(named.get(), environment);
    }
    WorkspaceSearch search = WorkspaceSearch.from(here);
    if (search.found().isPresent()) {
      Path found = search.found().get();
      return new Context(found.equals(HERE) ? Path.of(".") : found, environment);
    }
    if (search.here() == Here.PLANTED) {
      throw Context.noWorkspace(search);
    }
    Path root = here.equals(HERE) ? Path.of(".") : here;
    return new Context(root, environment).missing(search);
  }

  /**
   * Returns the folder that {@code init} fills: the named folder, else this one.
   *
   * @throws NexaException if commands would not use a workspace in this folder, or if this folder
   *     is in a workspace and the user named none
   */
  public Context forInit() {
    WorkspaceSearch search = WorkspaceSearch.from(here);
    if (named().isEmpty() && search.here() != Here.OURS) {
      throw Context.noWorkspace(search);
    }
    if (named().isEmpty() && !search.found().equals(Optional.of(here))) {
      search.found().ifPresent(this::refuseSecond);
    }
    named().ifPresent(RootCommand::requireFolder);
    return new Context(named().orElse(here.equals(HERE) ? Path.of(".") : here), environment);
  }

  private void refuseSecond(Path above) {
    throw Subcommand.conflict(
        here + " is in the workspace " + above + "; a second one does not see its runs and budgets",
        "to write what that workspace lacks, add: --workspace " + above,
        "to make a second one here, add: --workspace .");
  }

  /** Throws if the user may not enter the folder, or one above it. */
  private static void requireReachable(Path folder) {
    Path whole = folder.toAbsolutePath().normalize();
    for (Path at = whole; at != null; at = at.getParent()) {
      if (Files.isDirectory(at) && !Files.isExecutable(at)) {
        throw ErrorCode.IO_FAILED.error(
            "cannot use " + whole + " as the workspace: permission denied",
            DeniedAccess.advice(new AccessDeniedException(whole.toString()), whole.resolve("x")));
      }
    }
  }

  /**
   * Throws if {@code init} cannot make the folder, because the user has no access or it is a file.
   */
  private static void requireFolder(Path folder) {
    requireReachable(folder);
    Path whole = folder.toAbsolutePath().normalize();
    for (Path at = whole; at != null; at = at.getParent()) {
      if (Files.exists(at) && !Files.isDirectory(at)) {
        throw Subcommand.invalid(
            "--workspace " + folder + ": expected a folder, and " + at + " is a file",
            "name a folder that exists, or one to make");
      }
    }
  }

  /** Returns the folder in {@code --workspace}; empty if the option was not typed. */
  public Optional<Path> typedWorkspace() {
    return Optional.ofNullable(workspace.getValue());
  }

  /**
   * Adds the {@code --workspace} that the user typed to each command of ours in a text. The user
   * can then type the command without a change.
   */
  public String advised(String text) {
    if (workspace.getValue() == null || !text.contains("nexa-slurm ")) {
      return text;
    }
    String option = " " + Advice.command("", "--workspace", workspace.getValue());
    Pattern command =
        Pattern.compile(
            "(?<![\\w/.-])nexa-slurm (?=(?!explain|init)(?:"
                + String.join("|", NAMES)
                + ")(?![\\w-])(?![^`\n]* --(?:workspace|help)))");
    return command.matcher(text).replaceAll("nexa-slurm" + Matcher.quoteReplacement(option) + " ");
  }

  /** Returns the error with commands as {@link #advised(String)} writes them. */
  NexaException advised(NexaException failure) {
    CommandLine.ParseResult typed = spec.commandLine().getParseResult();
    List<String> args = typed == null ? List.of() : typed.originalArgs();
    List<Advice> all = failure.advice().stream().map(one -> advised(one.in(args))).toList();
    String message = advised(String.valueOf(failure.getMessage()));
    return message.equals(failure.getMessage()) && all.equals(failure.advice())
        ? failure
        : failure.code().error(message, all);
  }

  private Advice advised(Advice advice) {
    List<String> words = new ArrayList<>(advice.command());
    boolean ours =
        workspace.getValue() != null
            && words.size() > 1
            && words.get(0).equals("nexa-slurm")
            && NAMES.contains(words.get(1))
            && !Set.of("explain", "init").contains(words.get(1))
            && !words.contains("--workspace")
            && !words.contains("--help");
    if (ours) {
      words.addAll(1, List.of("--workspace", workspace.getValue().toString()));
    }
    return new Advice(advice.kind(), words, advised(advice.text()));
  }

  private Optional<Path> named() {
    if (workspace.getValue() != null) {
      return Optional.of(asTheKernelReads(workspace.getValue()));
    }
    String variable = environment.getOrDefault("NEXA_WORKSPACE", "");
    return variable.isEmpty() ? Optional.empty() : Optional.of(asTheKernelReads(Path.of(variable)));
  }

  /**
   * Returns the same folder, named so that its text leads to it. After a link, {@code ..} is the
   * folder above the link's target, but {@link Path#normalize} takes the folder above the link.
   */
  private static Path asTheKernelReads(Path folder) {
    if (!folder.toString().contains("..") || !Files.exists(folder)) {
      return folder;
    }
    Path plain = folder.toAbsolutePath().normalize();
    try {
      return Files.exists(plain) && Files.isSameFile(folder, plain) ? folder : folder.toRealPath();
    } catch (IOException failed) {
      throw DurableFiles.failure("use", folder, failed);
    }
  }

  /**
   * Asks a question that is answered with y or n, and waits for the answer.
   *
   * @return whether the answer is yes
   */
  boolean confirmed(String question, PrintWriter err) {
    err.print(question + " [y/N] ");
    err.flush();
    StringBuilder answer = new StringBuilder();
    InputStream answers = Objects.requireNonNull(keyboard);
    try {
      for (int next = answers.read(); next >= 0 && next != '\n'; next = answers.read()) {
        answer.append((char) next);
      }
    } catch (IOException gone) {
      return false;
    }
    String typed = answer.toString().strip().toLowerCase(Locale.ROOT);
    return typed.equals("y") || typed.equals("yes");
  }

  /** Returns all of standard input. */
  byte[] input() {
    return DurableFiles.attempt(
        "read",
        Path.of("/dev/stdin"),
        () -> keyboard == null ? new byte[0] : keyboard.readAllBytes());
  }

  /** Returns whether a person can be asked. */
  boolean canAsk() {
    return keyboard != null && (keyboard != System.in || Stdout.canAsk());
  }

  boolean showsStacktrace() {
    return stacktrace.<Boolean>getValue();
  }

  /** Returns the root command of a subcommand. */
  public static RootCommand of(CommandSpec spec) {
    return (RootCommand) spec.root().userObject();
  }
}
