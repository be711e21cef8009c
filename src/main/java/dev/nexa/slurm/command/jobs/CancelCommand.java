package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.io.PrintWriter;
import java.util.List;
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
    List<String> jobs = new CancelRun(context).cancel(found.run(), found.task());
    PrintWriter out = out();
    out.println(
        jobs.isEmpty()
            ? found.run().id()
                + ": no job is known yet; one that turns up is cancelled by reconcile"
            : found.run().id() + ": asked job " + String.join(", ", jobs) + " to end");
    out.println("  nexa-slurm reconcile    writes its manifest and cost file");
    return ExitCode.OK.status();
  }
}
