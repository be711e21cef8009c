package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.plan.Plan;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * A subcommand and its options, given to picocli as its own model: reading annotations would take a
 * submit 20 ms (docs/performance.md).
 */
abstract class Subcommand implements Callable<Integer>, Commands.Specified {
  private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);

  Subcommand(String name, String description, String... examples) {
    spec.name(name).addOption(help()).addOption(version());
    spec.usageMessage()
        .description(description)
        .footerHeading(examples.length == 1 ? "%nExample:%n" : "%nExamples:%n")
        .footer(indented(examples));
  }

  static OptionSpec help() {
    return OptionSpec.builder("-h", "--help")
        .usageHelp(true)
        .description("Show this help message and exit.")
        .build();
  }

  static OptionSpec version() {
    return OptionSpec.builder("-V", "--version")
        .versionHelp(true)
        .description("Print version information and exit.")
        .build();
  }

  private static String[] indented(String[] examples) {
    String[] lines = new String[examples.length];
    for (int i = 0; i < examples.length; i++) {
      lines[i] = "  " + examples[i];
    }
    return lines;
  }

  @Override
  public final CommandSpec spec() {
    return spec;
  }

  /** An option without a value; {@link #given} tells whether it was typed. */
  final OptionSpec flag(String name, String description) {
    return add(
        OptionSpec.builder(name.split(", ", -1)).type(boolean.class).initialValue(false),
        description);
  }

  /** An option with a value, null where it was not typed. */
  final OptionSpec option(String name, String label, String description) {
    return add(OptionSpec.builder(name).paramLabel(label).type(String.class), description);
  }

  final OptionSpec add(OptionSpec.Builder builder, String description) {
    OptionSpec option = builder.description(description).build();
    spec.addOption(option);
    return option;
  }

  final PositionalParamSpec add(PositionalParamSpec.Builder builder, String description) {
    PositionalParamSpec parameter = builder.description(description).build();
    spec.addPositional(parameter);
    return parameter;
  }

  /** The RUN that a command is about. */
  final PositionalParamSpec run() {
    return add(
        PositionalParamSpec.builder().paramLabel("RUN").type(String.class).required(true),
        "A run id, `latest`, a job id or 12345_7.");
  }

  /** The approval that a person names. */
  final OptionSpec approval() {
    return option(
        "--approval",
        "FILE",
        "The approval that covers it; else it is looked for where the policy says.");
  }

  static boolean given(OptionSpec flag) {
    return flag.<Boolean>getValue();
  }

  final Nexa nexa() {
    return RootCommand.of(spec).nexa();
  }

  final Nexa existing() {
    return RootCommand.of(spec).existing();
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** What the person should know of how the config was read. */
  final void tellNotes(Plan plan) {
    for (String note : plan.notes()) {
      err().println("note: " + note);
    }
  }
}
