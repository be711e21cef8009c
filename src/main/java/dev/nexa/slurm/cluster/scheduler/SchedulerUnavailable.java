package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;

/** Thrown if the scheduler does not answer. The state of the jobs is then unknown. */
public final class SchedulerUnavailable extends NexaException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an error.
   *
   * @param code a code whose exit status is {@link ExitCode#SCHEDULER}
   * @param advice what the user can do, one line each
   */
  public SchedulerUnavailable(ErrorCode code, String message, Advice... advice) {
    super(code, message, advice);
  }
}
