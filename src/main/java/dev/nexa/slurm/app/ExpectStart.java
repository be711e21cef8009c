package dev.nexa.slurm.app;

import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.render.Renderer;
import dev.nexa.slurm.scheduler.ExpectedStart;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import java.util.Optional;

/** When a plan's first task would begin, as Slurm says. */
public final class ExpectStart {
  private final Optional<SlurmScheduler> slurm;

  public ExpectStart(Nexa nexa) {
    this.slurm = nexa.slurm();
  }

  /** Never an error: an estimate is told where there is no Slurm too. */
  public ExpectedStart of(Plan plan) {
    if (!plan.scheduler().equals("slurm") || slurm.isEmpty()) {
      return ExpectedStart.UNKNOWN;
    }
    try {
      return slurm.get().expectedStart(Renderer.options(plan));
    } catch (SchedulerUnavailable outage) {
      return ExpectedStart.never(String.valueOf(outage.getMessage()));
    }
  }
}
