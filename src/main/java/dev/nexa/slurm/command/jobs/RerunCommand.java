package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.RerunRun;
import dev.nexa.slurm.run.control.RerunTasks;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm rerun}. */
public final class RerunCommand extends Subcommand {
  private final PositionalParamSpec reference = run();
  private final OptionSpec failed =
      flag("--failed", "Only the tasks that failed, timed out or were lost, within the same run.");
  private final OptionSpec tasks =
      option("--tasks LIST", "Only these tasks, such as 3,7-9, within the same run.");
  private final OptionSpec approval = approval();
  private final AfterSubmit after = new AfterSubmit(this);

  public RerunCommand() {
    super(
        "rerun",
        "Runs a stored script again, byte for byte: all tasks as a new run, or some tasks within the same run.",
        "nexa-slurm rerun latest --failed",
        "nexa-slurm rerun train_20251101_143200 --tasks 3,7-9",
        "nexa-slurm rerun train_20251101_143200 --wait");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    Optional<IndexRange> chosen = chosen(found);
    if (given(failed) && chosen.isPresent()) {
      throw conflict("--failed and --tasks each say which tasks", "give one of them");
    }
    Optional<String> named = value(approval);
    return after.report(
        context,
        () ->
            given(failed) || chosen.isPresent()
                ? new RerunTasks(context, named).rerun(found.run(), chosen)
                : new RerunRun(context).rerun(found.run(), named));
  }

  /** Returns the tasks of {@code --tasks}, or the task of {@code 12345_7}; empty for neither. */
  private Optional<IndexRange> chosen(RunLookup.Found found) {
    String text = tasks.getValue();
    if (text == null) {
      return found.task().stream().mapToObj(task -> IndexRange.parse("" + task)).findFirst();
    }
    try {
      return Optional.of(IndexRange.parse(text));
    } catch (IllegalArgumentException wrong) {
      throw ErrorCode.OPTION_INVALID.error("--tasks: " + wrong.getMessage(), wrong);
    }
  }
}
