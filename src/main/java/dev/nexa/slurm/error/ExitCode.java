package dev.nexa.slurm.error;

/** What the process's exit status means; the table stands in docs/commands.md. */
public enum ExitCode {
  /** Done. */
  OK(0),
  /** A defect of ours or an unexpected I/O failure. */
  DEFECT(1),
  /** The command line or a config is wrong. */
  USAGE(2),
  /** Needs an approval, or is over budget: nothing was submitted. */
  NEEDS_APPROVAL(3),
  /** The scheduler refused or cannot be reached. */
  SCHEDULER(4),
  /** With --wait: the run ended, but not well; serve: the server did not get ready. */
  RUN_FAILED(5),
  /** Ctrl-C while waiting or following: the job goes on. */
  INTERRUPTED(130);

  private final int status;

  ExitCode(int status) {
    this.status = status;
  }

  /** The number given to the operating system. */
  public int status() {
    return status;
  }
}
