package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;

/** Adds the profile's {@code slurm.sacct_fields} to queries of accounting. */
public final class ProfileSacctFields {
  private ProfileSacctFields() {}

  /**
   * Sets the scheduler's extra fields from the profile of the first of these runs that has a plan.
   */
  public static void askFor(Context context, Scheduler scheduler, Set<RunId> runs) {
    for (RunId id : runs) {
      RunFolder run = context.workspace().run(id);
      if (Files.exists(run.plan())) {
        try {
          scheduler.askFor(context.configs().cluster(run.shownPlan().cluster()).sacctFields());
        } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
          scheduler.askFor(List.of());
        }
        return;
      }
    }
  }

  /** Reports that sacct rejected a field of the profile. */
  public static void tellRefusal(Scheduler scheduler, List<String> problems) {
    if (scheduler.refusal().isPresent()) {
      problems.add(
          scheduler.refusal().get()
              + "; asked without the profile's slurm.sacct_fields: Slurm is of another version than"
              + " the profile. `nexa-slurm init` tells what they are now");
    }
  }
}
