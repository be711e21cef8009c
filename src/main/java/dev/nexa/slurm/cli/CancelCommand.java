package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.CancelRun;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm cancel}. */
@Command(
    name = "cancel",
    mixinStandardHelpOptions = true,
    description = "Ends a run's jobs, or one task of it.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  nexa-slurm cancel latest",
      "  nexa-slurm cancel train_20251101_143200",
      "  nexa-slurm cancel 12345_7"
    })
final class CancelCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "RUN", description = "A run id, `latest`, a job id or 12345_7.")
  private String reference = "";

  @Override
  public Integer call() {
    Nexa nexa = RootCommand.of(spec).nexa();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
    List<String> jobs = new CancelRun(nexa).cancel(found.run(), found.task());
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        jobs.isEmpty()
            ? found.run().id()
                + ": no job is known yet; one that turns up is cancelled by reconcile"
            : found.run().id() + ": asked job " + String.join(", ", jobs) + " to end");
    out.println("  nexa-slurm reconcile    writes what it came to");
    return ExitCode.OK.status();
  }
}
