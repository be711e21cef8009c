package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.InterruptRun;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.util.List;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm interrupt}. */
public final class InterruptCommand extends Subcommand {
  private final PositionalParamSpec reference = run();

  public InterruptCommand() {
    super(
        "interrupt",
        "Rehearses a preemption: ends running tasks and queues them again.",
        "nexa-slurm interrupt latest",
        "nexa-slurm interrupt 12345_7");
  }

  @Override
  protected void work() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    List<String> tasks = new InterruptRun(context).interrupt(found.run(), found.task());
    say(found.run().id() + ": queued again: " + String.join(", ", tasks));
    say("  Slurm starts what was requeued after two minutes at the earliest");
    say(advised("  nexa-slurm logs -f " + found.run().id()));
  }
}
