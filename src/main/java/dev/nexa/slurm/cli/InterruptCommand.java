package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.InterruptRun;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm interrupt}. */
final class InterruptCommand extends Subcommand {
  private final PositionalParamSpec reference = run();

  InterruptCommand() {
    super(
        "interrupt",
        "Rehearses a preemption: ends running tasks and queues them again.",
        "nexa-slurm interrupt latest",
        "nexa-slurm interrupt 12345_7");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference.getValue());
    List<String> tasks = new InterruptRun(nexa).interrupt(found.run(), found.task());
    PrintWriter out = out();
    out.println(found.run().id() + ": queued again: " + String.join(", ", tasks));
    out.println("  Slurm starts what was requeued after two minutes at the earliest");
    out.println("  nexa-slurm logs -f " + found.run().id());
    return ExitCode.OK.status();
  }
}
