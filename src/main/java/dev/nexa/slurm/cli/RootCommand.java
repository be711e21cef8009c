package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm} itself: the options that every command has. */
@Command(
    name = "nexa-slurm",
    mixinStandardHelpOptions = true,
    versionProvider = VersionText.class,
    description =
        "Says what a Slurm job will cost, submits it exactly once, and proves what it did cost.",
    synopsisSubcommandLabel = "COMMAND",
    footerHeading = "%nExit status:%n",
    footer = {
      "  0 done; 1 a defect or an I/O failure; 2 the command line or a config is wrong;",
      "  3 needs an approval; 4 the scheduler refused or can't be reached; 5 --wait: the run failed;",
      "  130 Ctrl-C while waiting: the job goes on.",
      "",
      "Start with:  nexa-slurm submit configs/data/quickstart.yaml --local --wait"
    })
final class RootCommand implements Runnable {
  private final Map<String, String> environment;

  @Spec private CommandSpec spec;

  @Option(
      names = "--workspace",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description = "Where runs are kept and configs are looked up first; NEXA_WORKSPACE, or here.")
  private @Nullable Path workspace;

  @Option(
      names = "--stacktrace",
      scope = ScopeType.INHERIT,
      description = "Shows where in the program an error came from.")
  boolean stacktrace;

  RootCommand(Map<String, String> environment) {
    this.environment = environment;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is needed");
  }

  /** What the use cases share, for the workspace that was named. */
  Nexa nexa() {
    String variable = environment.getOrDefault("NEXA_WORKSPACE", "");
    Path root = workspace != null ? workspace : Path.of(variable.isEmpty() ? "." : variable);
    return new Nexa(root, environment);
  }

  /** The root of a subcommand's command line. */
  static RootCommand of(CommandSpec spec) {
    CommandLine root = spec.root().commandLine();
    return root.getCommand();
  }
}
