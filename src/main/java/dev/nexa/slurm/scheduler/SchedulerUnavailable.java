package dev.nexa.slurm.scheduler;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;

/** The scheduler could not be asked: nothing is known of the jobs. */
public final class SchedulerUnavailable extends NexaException {
  private static final long serialVersionUID = 1L;

  public SchedulerUnavailable(String message, String... advice) {
    super(ExitCode.SCHEDULER, message, advice);
  }
}
