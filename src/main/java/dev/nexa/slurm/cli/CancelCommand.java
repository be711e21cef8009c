package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.CancelRun;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm cancel}. */
final class CancelCommand extends Subcommand {
  private final PositionalParamSpec reference = run();

  CancelCommand() {
    super(
        "cancel",
        "Ends a run's jobs, or one task of it.",
        "nexa-slurm cancel latest",
        "nexa-slurm cancel train_20251101_143200",
        "nexa-slurm cancel 12345_7");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference.getValue());
    List<String> jobs = new CancelRun(nexa).cancel(found.run(), found.task());
    PrintWriter out = out();
    out.println(
        jobs.isEmpty()
            ? found.run().id()
                + ": no job is known yet; one that turns up is cancelled by reconcile"
            : found.run().id() + ": asked job " + String.join(", ", jobs) + " to end");
    out.println("  nexa-slurm reconcile    writes what it came to");
    return ExitCode.OK.status();
  }
}
