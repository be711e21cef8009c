package dev.nexa.slurm.run.diagnosis;

/** Says what an exit status means by itself. Pure. */
final class ExitWords {
  private ExitWords() {}

  /**
   * Returns the sentence for a program that ended with a status and explained nothing.
   *
   * @param status the exit status, as a shell sees it
   * @param silent whether the program printed nothing at all
   */
  static String sentence(int status, boolean silent) {
    return "The program ended with status "
        + status
        + (silent ? " and printed nothing." : " and printed nothing that explains it.")
        + meaning(status);
  }

  /** Returns what the status means to shells and programs, after a blank; empty for most. */
  private static String meaning(int status) {
    return switch (status) {
      case 2 -> " Many programs end so if an option is wrong.";
      case 126 ->
          " The shell found a command and may not run it: it is no program, or not executable.";
      case 127 -> " The shell did not find a command.";
      case 130 -> " Signal 2 (INT) ended it.";
      case 134 -> " Signal 6 (ABRT) ended it: the program gave up.";
      case 137 -> " Signal 9 (KILL) ended it, often because the memory was used up.";
      case 139 -> " Signal 11 (SEGV) ended it: native code crashed.";
      case 143 -> " Signal 15 (TERM) ended it: somebody, or Slurm, asked it to end.";
      default -> "";
    };
  }
}
