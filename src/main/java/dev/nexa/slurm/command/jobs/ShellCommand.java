package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.OpenShell;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.OptionalInt;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm shell}. */
public final class ShellCommand extends Subcommand {
  private final PositionalParamSpec reference = run();
  private final PositionalParamSpec command =
      moreParameters("COMMAND", "What to run there, after `--`. Default: a shell.");
  private final OptionSpec task = number("--task N", "The task. Default: the first one that runs.");
  private final OptionSpec node =
      option("--node NAME", "The node. Default: the first node of the task.");

  public ShellCommand() {
    super(
        "shell",
        "Opens a shell in a running task: on its node, with its variables, in its folder and its container.",
        "nexa-slurm shell latest",
        "nexa-slurm shell --task 3 train_20251101_143200",
        "nexa-slurm shell latest -- nvidia-smi");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    RunFolder run = found.run();
    run.requireOwn();
    OptionalInt one = found.taskOr(task.getValue());
    List<String> argv =
        new OpenShell(context)
            .commandLine(run, one, value(node), Stdout.isTerminal(), command.getValue());
    out().flush();
    ProcessBuilder process = new ProcessBuilder(argv).inheritIO();
    process.environment().clear();
    process.environment().putAll(ClientEnvironment.forClients(context.environment()));
    try {
      return process.start().waitFor();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start " + argv.get(0), failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
  }
}
