package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RerunRun;
import dev.nexa.slurm.app.RerunTasks;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.units.IndexRange;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm rerun}. */
final class RerunCommand extends Subcommand {
  private final PositionalParamSpec reference = run();
  private final OptionSpec failed =
      flag("--failed", "Only the tasks that failed, timed out or were lost, within the same run.");
  private final OptionSpec tasks =
      option("--tasks", "LIST", "Only these tasks, such as 3,7-9, within the same run.");
  private final OptionSpec approval = approval();
  private final AfterSubmit after = new AfterSubmit(this);

  RerunCommand() {
    super(
        "rerun",
        "Runs a stored script again, byte for byte: all of it as a new run, or some tasks.",
        "nexa-slurm rerun latest --failed",
        "nexa-slurm rerun train_20251101_143200 --tasks 3,7-9",
        "nexa-slurm rerun train_20251101_143200 --wait");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference.getValue());
    Optional<IndexRange> chosen = chosen(found);
    if (given(failed) && chosen.isPresent()) {
      throw new NexaException(
          ExitCode.USAGE, "--failed and --tasks each say which tasks", "give one of them");
    }
    Optional<String> named = Optional.ofNullable(approval.getValue());
    return after.report(
        nexa,
        given(failed) || chosen.isPresent()
            ? new RerunTasks(nexa, named).rerun(found.run(), chosen)
            : new RerunRun(nexa).rerun(found.run(), named));
  }

  /** {@code --tasks}, or the task of {@code 12345_7}. */
  private Optional<IndexRange> chosen(RunLookup.Found found) {
    String text = tasks.getValue();
    if (text == null) {
      return found.task().isPresent()
          ? Optional.of(IndexRange.parse("" + found.task().getAsInt()))
          : Optional.empty();
    }
    try {
      return Optional.of(IndexRange.parse(text));
    } catch (IllegalArgumentException wrong) {
      throw new NexaException(ExitCode.USAGE, "--tasks: " + wrong.getMessage(), wrong);
    }
  }
}
