package dev.nexa.slurm.base.error;

/** Exit statuses of the process. docs/commands.md has the same table. */
public enum ExitCode {
  /** The command succeeded. */
  OK(0),
  /** A defect in nexa-slurm, or an unexpected I/O failure. */
  DEFECT(1),
  /** The command line or a config file is wrong. */
  USAGE(2),
  /** The run needs an approval or exceeds a budget, or a release lacks a signature that counts. */
  NEEDS_APPROVAL(3),
  /** The scheduler refused the request or cannot be reached. */
  SCHEDULER(4),
  /**
   * With {@code --wait}: the run ended with a failure. For {@code serve}: the server did not become
   * ready.
   */
  RUN_FAILED(5),
  /** A gate did not pass, or a data stage lost more rows than its limit allows. */
  GATE_FAILED(6),
  /** Ctrl-C while the command waited or followed a log. The job continues. */
  INTERRUPTED(130);

  private final int status;

  ExitCode(int status) {
    this.status = status;
  }

  /** Returns the status that the process exits with. */
  public int status() {
    return status;
  }
}
