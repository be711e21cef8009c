package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.control.EarlierEnd;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm cancel}. */
public final class CancelCommand extends Subcommand {
  private final PositionalParamSpec reference = run();

  public CancelCommand() {
    super(
        "cancel",
        "Ends all jobs of a run, or one task of the run.",
        "nexa-slurm cancel latest",
        "nexa-slurm cancel train_20251101_143200",
        "nexa-slurm cancel 12345_7");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    Optional<EarlierEnd> ended = EarlierEnd.of(context, found.run(), found.task());
    if (ended.isPresent()) {
      out().println(ended(found, ended.get()));
      out().println("  nexa-slurm runs show " + found.run().id());
      return ExitCode.OK.status();
    }
    out().println(cancelling(found, new CancelRun(context).cancel(found.run(), found.task())));
    return ExitCode.OK.status();
  }

  private static String ended(RunLookup.Found found, EarlierEnd end) {
    return (found.task().isPresent() ? "Task " + found.task().getAsInt() + " of " : "")
        + found.run().id()
        + " has ended: "
        + end.state().replace('_', ' ')
        + end.at().map(at -> ", " + PlainTime.utc(at)).orElse("")
        + ". Nothing was cancelled.";
  }

  private static String cancelling(RunLookup.Found found, List<String> jobs) {
    if (jobs.isEmpty()) {
      return "No job of "
          + found.run().id()
          + " is known yet. If one appears, `nexa-slurm reconcile` cancels it.";
    }
    String kind = found.task().isPresent() ? "task" : "job";
    return "Cancelling "
        + kind
        + (jobs.size() == 1 ? " " : "s ")
        + String.join(", ", jobs)
        + ". Its cost appears after the next reconcile.";
  }
}
