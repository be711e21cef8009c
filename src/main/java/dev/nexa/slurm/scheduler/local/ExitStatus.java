package dev.nexa.slurm.scheduler.local;

/**
 * How a batch script ended.
 *
 * @param waitStatus as waitpid(2) gives it
 */
record ExitStatus(int waitStatus) {
  /**
   * slurmd's ESLURMD_... for "the output file could not be opened", as Slurm 22.05's sacct has it.
   */
  static final String NO_OUTPUT = "0:53";

  /** What a script that could not be executed exits with: its errno. */
  static ExitStatus exited(int code) {
    return new ExitStatus(code << 8);
  }

  String state() {
    return waitStatus == 0 ? "COMPLETED" : "FAILED";
  }

  /**
   * sacct's {@code exit:signal} up to Slurm 25.05: of codes from 128 on, 128 is taken off (137 is
   * {@code 9:0}), and signal 1 is taken for exit 1 ({@code 1:0}).
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
