package dev.nexa.slurm.run.start;

import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.run.Context;
import java.util.Optional;

/** Asks Slurm when the first task of a plan would start. */
public final class ExpectStart {
  private final Optional<SlurmScheduler> slurm;

  public ExpectStart(Context context) {
    this.slurm = context.slurm();
  }

  /** Returns the expected start. Never throws: an estimate must also work without Slurm. */
  public ExpectedStart of(Plan plan) {
    boolean groups = !plan.shape().groups().isEmpty(); // sbatch --test-only covers one job
    if (plan.site().scheduler().equals(ClusterProfile.LOCAL) || slurm.isEmpty() || groups) {
      return ExpectedStart.UNKNOWN;
    }
    try {
      return slurm.get().expectedStart(Renderer.options(plan));
    } catch (SchedulerUnavailable outage) {
      return ExpectedStart.unknown(String.valueOf(outage.getMessage()));
    }
  }
}
