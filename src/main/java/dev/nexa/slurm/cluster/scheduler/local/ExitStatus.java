package dev.nexa.slurm.cluster.scheduler.local;

/**
 * The exit status of a batch script.
 *
 * @param waitStatus the status of waitpid(2)
 */
record ExitStatus(int waitStatus) {
  /** sacct's exit code for an output file that could not be opened, as Slurm 22.05 prints it. */
  static final String NO_OUTPUT = "0:53";

  /**
   * Returns the status of a process that exited with this code. A script that could not be executed
   * exits with its errno.
   */
  static ExitStatus exited(int code) {
    return new ExitStatus(code << 8);
  }

  String state() {
    return waitStatus == 0 ? "COMPLETED" : "FAILED";
  }

  /**
   * Returns sacct's {@code exit:signal} as Slurm prints it up to 25.05. Slurm subtracts 128 from an
   * exit code of 128 and more: 137 is {@code 9:0}. Slurm prints signal 1 as exit code 1: {@code
   * 1:0}.
   */
  String text() {
    int signal = waitStatus & 0x7f;
    if (signal == 1) {
      return "1:0";
    }
    if (signal != 0) {
      return "0:" + signal;
    }
    int code = waitStatus >> 8 & 0xff;
    return (code >= 128 ? code - 128 : code) + ":0";
  }
}
