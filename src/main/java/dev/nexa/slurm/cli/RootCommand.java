package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** {@code nexa-slurm} itself: the options that every command has. */
final class RootCommand implements Runnable {
  private final Map<String, String> environment;
  private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);

  private final OptionSpec workspace =
      OptionSpec.builder("--workspace")
          .paramLabel("DIR")
          .type(Path.class)
          .scopeType(ScopeType.INHERIT)
          .description(
              "Where runs are kept and configs are looked up first; NEXA_WORKSPACE, or here.")
          .build();

  private final OptionSpec stacktrace =
      OptionSpec.builder("--stacktrace")
          .type(boolean.class)
          .initialValue(false)
          .scopeType(ScopeType.INHERIT)
          .description("Shows where in the program an error came from.")
          .build();

  RootCommand(Map<String, String> environment) {
    this.environment = environment;
    spec.name("nexa-slurm")
        .versionProvider(new VersionText())
        .addOption(Subcommand.help())
        .addOption(Subcommand.version())
        .addOption(workspace)
        .addOption(stacktrace);
    spec.usageMessage()
        .description(
            "Says what a Slurm job will cost, submits it exactly once, and proves what it did cost.")
        .synopsisSubcommandLabel("COMMAND")
        .footerHeading("%nExit status:%n")
        .footer(
            "  0 done; 1 a defect or an I/O failure; 2 the command line or a config is wrong;",
            "  3 needs an approval or is over a budget (or estimate's --fail-over): nothing was submitted;",
            "  4 the scheduler refused or can't be reached; 5 --wait: the run failed,",
            "  serve: the server did not get ready; 130 Ctrl-C while waiting: the job goes on.",
            "",
            "Start with:  nexa-slurm submit configs/data/quickstart.yaml --local --wait");
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is needed");
  }

  /**
   * The same, for commands that look at what is there: a slip in the name is no empty workspace.
   */
  Nexa existing() {
    Nexa nexa = nexa();
    if (!Files.isDirectory(nexa.root())) {
      throw new NexaException(
          ExitCode.USAGE,
          "there is no workspace " + nexa.root().toAbsolutePath().normalize(),
          "name the folder that submit was typed in: --workspace DIR, or NEXA_WORKSPACE");
    }
    return nexa;
  }

  /** What the use cases share, for the workspace that was named. */
  Nexa nexa() {
    Path named = workspace.getValue();
    String variable = environment.getOrDefault("NEXA_WORKSPACE", "");
    Path root = named != null ? named : Path.of(variable.isEmpty() ? "." : variable);
    return new Nexa(root, environment);
  }

  boolean showsStacktrace() {
    return stacktrace.<Boolean>getValue();
  }

  /** The root of a subcommand's command line. */
  static RootCommand of(CommandSpec spec) {
    return (RootCommand) spec.root().userObject();
  }
}
