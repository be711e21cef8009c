package dev.nexa.slurm.app;

import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;

/** What accounting is asked for beside the fields of every version: what the profile names. */
final class SacctFields {
  private SacctFields() {}

  /** Lets the scheduler ask for what the profile of the first of the runs that has one names. */
  static void askFor(Nexa nexa, Scheduler scheduler, Set<RunId> runs) {
    if (!(scheduler instanceof SlurmScheduler slurm)) {
      return;
    }
    for (RunId id : runs) {
      RunFolder run = nexa.workspace().run(id);
      if (Files.exists(run.plan())) {
        try {
          slurm.askFor(nexa.configs().cluster(run.planJson().text("cluster")).sacctFields());
        } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
          slurm.askFor(List.of());
        }
        return;
      }
    }
  }

  /** Tells that the profile names what sacct does not have. */
  static void tellRefusal(Scheduler scheduler, List<String> problems) {
    if (scheduler instanceof SlurmScheduler slurm && slurm.refusal().isPresent()) {
      problems.add(
          slurm.refusal().get()
              + "; asked without the profile's slurm.sacct_fields: Slurm is of another version than"
              + " the profile. `nexa-slurm init` tells what they are now");
    }
  }
}
