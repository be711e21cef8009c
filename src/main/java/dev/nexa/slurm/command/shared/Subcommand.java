package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.AccountCheck;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * A subcommand and its options.
 *
 * <p>The options are passed to picocli as its own model, because reading annotations would take 20
 * ms of each submit (docs/performance.md).
 */
public abstract class Subcommand implements Callable<Integer>, Specified {
  /** Joins the lines of an example. */
  private static final String CONTINUED = " \\%n      ";

  /** picocli breaks longer lines, without a backslash. */
  private static final int LONGEST_LINE = 76;

  private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);

  protected Subcommand(String name, String description, String... examples) {
    spec.name(name).addOption(help()).addOption(version());
    spec.usageMessage()
        .description(description)
        .footerHeading(examples.length == 1 ? "%nExample:%n" : "%nExamples:%n")
        .footer(indented(examples));
  }

  protected static OptionSpec help() {
    return OptionSpec.builder("-h", "--help")
        .usageHelp(true)
        .description("Show this help message and exit.")
        .build();
  }

  protected static OptionSpec version() {
    return OptionSpec.builder("-V", "--version")
        .versionHelp(true)
        .description("Print version information and exit.")
        .build();
  }

  private static String[] indented(String[] examples) {
    String[] lines = new String[examples.length];
    for (int i = 0; i < examples.length; i++) {
      lines[i] = "  " + continued(examples[i].replace("%", "%%").replace("${", "$${"));
    }
    return lines;
  }

  /** Returns the command of an example in one line, as a person types it. */
  static String typed(String example) {
    return example.replace(CONTINUED, " ").replace("%%", "%").replace("$${", "${").strip();
  }

  /** Returns the command in lines of 78 characters at most, which a shell reads as one command. */
  private static String continued(String command) {
    StringBuilder lines = new StringBuilder();
    String rest = command;
    while (rest.length() > LONGEST_LINE) {
      int end = rest.lastIndexOf(' ', LONGEST_LINE - 2);
      while (end > 0 && rest.substring(0, end).replaceAll("[^'\"]", "").length() % 2 == 1) {
        end = rest.lastIndexOf(' ', end - 1);
      }
      if (end <= 0) {
        break;
      }
      lines.append(rest, 0, end).append(CONTINUED);
      rest = rest.substring(end + 1);
    }
    return lines.append(rest).toString();
  }

  @Override
  public final CommandSpec spec() {
    return spec;
  }

  /** Does the work and returns the exit status: success, unless a command overrides this. */
  @Override
  public Integer call() throws InterruptedException {
    work();
    return ExitCode.OK.status();
  }

  /** Does the work of a command that ends with success if it does not throw. */
  protected void work() {
    throw new IllegalStateException(spec.name() + " has nothing to do");
  }

  /** Adds an option without a value; {@link #given} returns whether it was typed. */
  public final OptionSpec flag(String name, String description) {
    return add(
        OptionSpec.builder(name.split(", ", -1)).type(boolean.class).initialValue(false),
        description);
  }

  /** Adds the flag {@code --json}. */
  protected final OptionSpec jsonFlag() {
    return flag("--json", "Prints one JSON document.");
  }

  /**
   * Adds an option with a value; the value is null if the option was not typed.
   *
   * @param form the names and the label of the value, such as {@code -o, --output FILE}
   */
  public final OptionSpec option(String form, String description) {
    return add(builder(form).type(String.class), description);
  }

  /**
   * Adds an option whose value may be left out, and is an empty text then; the value is null if the
   * option was not typed.
   */
  public final OptionSpec openOption(String form, String description) {
    return add(builder(form).type(String.class).arity("0..1").fallbackValue(""), description);
  }

  /** Adds an option whose value is a whole number; null if the option was not typed. */
  protected final OptionSpec number(String form, String description) {
    return add(builder(form).type(Integer.class), description);
  }

  static OptionSpec.Builder builder(String form) {
    int space = form.lastIndexOf(' ');
    return OptionSpec.builder(form.substring(0, space).split(", ", -1))
        .paramLabel(form.substring(space + 1));
  }

  /** Adds an option that may be given often; the value is the list of what was typed. */
  public final OptionSpec options(String form, String description) {
    return add(
        builder(form).type(List.class).auxiliaryTypes(String.class).initialValue(new ArrayList<>()),
        description);
  }

  /** Adds subcommands. */
  protected final void subcommands(Specified... commands) {
    Stream.of(commands).forEach(one -> spec.addSubcommand(one.spec().name(), one.spec()));
  }

  public final OptionSpec add(OptionSpec.Builder builder, String description) {
    OptionSpec option = builder.description(description).build();
    spec.addOption(option);
    return option;
  }

  /** Adds a parameter. */
  public final PositionalParamSpec add(PositionalParamSpec.Builder builder, String description) {
    PositionalParamSpec parameter = builder.description(description).build();
    spec.addPositional(parameter);
    return parameter;
  }

  private static PositionalParamSpec.Builder positional(String label, Class<?> type) {
    return PositionalParamSpec.builder().paramLabel(label).type(type);
  }

  /** Adds a parameter that must be given. */
  public final PositionalParamSpec parameter(String label, String description) {
    return add(positional(label, String.class).required(true), description);
  }

  /** Adds a parameter that must be given, and is a file's path. */
  public final PositionalParamSpec fileParameter(String label, String description) {
    return add(positional(label, Path.class).required(true), description);
  }

  /** Adds a parameter whose value is null if it was not typed. */
  public final PositionalParamSpec optionalParameter(String label, String description) {
    return add(positional(label, String.class).arity("0..1"), description);
  }

  /** Adds a parameter that may be given often, or not at all. */
  protected final PositionalParamSpec parameters(String label, String description) {
    return add(several(label), description);
  }

  /** Adds such a parameter behind another one. */
  public final PositionalParamSpec moreParameters(String label, String description) {
    return add(several(label).index("1..*"), description);
  }

  private static PositionalParamSpec.Builder several(String label) {
    return positional(label, List.class)
        .arity("0..*")
        .auxiliaryTypes(String.class)
        .initialValue(new ArrayList<>());
  }

  /** Adds the parameter RUN. */
  protected final PositionalParamSpec run() {
    return parameter(
        "RUN", "A run id or its beginning, a run's name, `latest`, a job id or 12345_7.");
  }

  /** Adds the parameter RUN, which is the latest run if it is not typed. */
  protected final PositionalParamSpec runOrLatest() {
    return add(
        positional("RUN", String.class).arity("0..1").defaultValue("latest"),
        "A run id or its beginning, a run's name, `latest`, a job id or 12345_7; the latest run if not given.");
  }

  /** Adds the option {@code --approval}. */
  protected final OptionSpec approval() {
    return option(
        "--approval FILE",
        "The approval that covers this run. Default: looks in the folder that the policy names.");
  }

  /** Returns whether an option was typed; one that the command lacks (null) was not. */
  public static boolean given(@Nullable ArgSpec option) {
    Object typed = option == null ? null : option.getValue();
    return typed != null && !typed.equals(false);
  }

  /** Returns the value of an option or a parameter; empty if it was not given. */
  public static Optional<String> value(@Nullable ArgSpec option) {
    return option == null ? Optional.empty() : Optional.ofNullable(option.getValue());
  }

  /**
   * Returns the workspace; without one, this folder, and prints a note that the jar's files apply.
   *
   * <p>For commands that submit no run to Slurm.
   */
  protected final Context context() {
    Context context = RootCommand.of(spec).context();
    if (context.missing().isPresent()) {
      err().println(SubmitRun.withoutWorkspace(context));
    }
    return context;
  }

  /**
   * Returns the workspace; without one, this folder: the jar's files apply, and no note says so.
   */
  protected final Context anywhere() {
    return RootCommand.of(spec).context();
  }

  /**
   * Returns the workspace; without one, this folder, where a run on this machine can be made.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if there is no workspace and other users can
   *     put files into this folder
   */
  protected final Context forRuns() {
    return RootCommand.of(spec).forRuns();
  }

  /**
   * Returns the workspace.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if there is none
   */
  protected final Context existing() {
    return RootCommand.of(spec).existing();
  }

  /**
   * Returns the workspace whose policy is in force. With an administrator's policy, no workspace is
   * needed, because that policy applies everywhere.
   */
  protected final Context ruled() {
    return Files.exists(ConfigReader.ADMIN_POLICY) ? context() : existing();
  }

  /** Returns the user's variables, or the variables of the job that runs the command. */
  public final Map<String, String> environment() {
    return RootCommand.of(spec).environment();
  }

  /** Returns a text with the typed {@code --workspace} in each command of ours. */
  public final String advised(String text) {
    return RootCommand.of(spec).advised(text);
  }

  /**
   * Does work. A signal that ends the process meanwhile prints a text on stderr.
   *
   * @param text what goes on or is unfinished; called when the signal comes
   */
  public final <T> T saying(Supplier<String> text, Supplier<T> work) {
    Thread hook =
        new Thread(
            () -> {
              err().println("\n" + advised(text.get()));
              err().flush();
            },
            "interrupted");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return work.get();
    } finally {
      // An error that ends the work is not an interrupt.
      Runtime.getRuntime().removeShutdownHook(hook);
    }
  }

  /** Returns the writer for the command's output. */
  public final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Returns how tables are laid out: one line a row, unless the output is a terminal. */
  public final TableStyle style() {
    return out() instanceof TerminalOutput terminal ? terminal.style() : TableStyle.PLAIN;
  }

  /** Prints a JSON document. */
  public final void print(JsonObject document) {
    print(Json.pretty(document));
  }

  /**
   * Prints the answer, and returns the exit status of success.
   *
   * @param json the flag that asks for one JSON document
   * @param people prints the answer for people
   */
  protected final Integer answer(OptionSpec json, Supplier<JsonObject> document, Runnable people) {
    if (given(json)) {
      print(document.get());
    } else {
      people.run();
    }
    return ExitCode.OK.status();
  }

  /** Prints a line of the output. */
  public final void say(Object line) {
    out().println(line);
  }

  /** Prints text on stdout unchanged. */
  public final void print(String text) {
    out().print(text);
  }

  /** Prints a line on stderr. */
  public final void remark(Object line) {
    err().println(line);
  }

  /** Prints a note on stderr. */
  public final void note(Object text) {
    err().println("note: " + text);
  }

  /** Prints text with a table of {@link #style}. */
  public final void printTable(String text) {
    if (out() instanceof TerminalOutput terminal) {
      terminal.printTable(text);
    } else {
      print(text);
    }
  }

  /** Returns the error for a value that an option does not take, with steps that help. */
  public static NexaException invalid(String message, String... steps) {
    return ErrorCode.OPTION_INVALID.error(message, steps);
  }

  /** Returns the error for options that contradict each other, with steps that help. */
  public static NexaException conflict(String message, String... steps) {
    return ErrorCode.OPTIONS_CONFLICT.error(message, steps);
  }

  /** Returns the writer for notes, progress and problems. */
  public final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /**
   * Asks the person at the terminal a question.
   *
   * @return whether the answer is yes
   * @throws NexaException if nobody is at a terminal: a script must say that it means it
   */
  protected final boolean confirmed(String question) {
    requirePerson(
        "nobody can be asked here: " + question,
        Advice.step("nothing was changed; add --yes to do it"));
    return RootCommand.of(spec).confirmed(question, err());
  }

  /**
   * Returns whether to go on: {@code --yes} was typed, or the person at the terminal says yes.
   *
   * @param problem what is said if nobody is at a terminal
   * @param question what the person is asked
   * @throws NexaException if {@code --yes} was not typed and nobody is at a terminal
   */
  protected final boolean agreed(
      OptionSpec yes, String problem, String question, Advice... advice) {
    if (given(yes)) {
      return true;
    }
    requirePerson(problem, advice);
    return confirmed(question);
  }

  /**
   * Checks that a person is at a terminal and can be asked: a script must say that it means it.
   *
   * @param problem what is said if nobody is
   * @throws NexaException if nobody is
   */
  public final void requirePerson(String problem, Advice... advice) {
    if (!RootCommand.of(spec).canAsk()) {
      throw ErrorCode.ARGUMENT_MISSING.error(problem, advice);
    }
  }

  /** Prints a note if the plan names an account that Slurm's accounting does not have. */
  protected final void tellAccount(Context context, Plan plan) {
    if (!plan.site().scheduler().equals(ClusterProfile.LOCAL)) {
      AccountCheck.of(context, plan.allocation().account()).ifPresent(this::note);
    }
  }

  /** Prints the notes of a plan, and what its code is, as lines for the user. */
  protected final void tellNotes(Plan plan) {
    plan.notes().forEach(this::note);
    plan.payload().code().ifPresent(code -> err().println(code.sentence()));
  }
}
