package dev.nexa.slurm.run.diagnosis;

import java.util.List;
import java.util.regex.Pattern;

/** Says what an exit status means by itself. Pure. */
final class ExitWords {
  /** Matches a line that usually says why a program gives up. */
  private static final Pattern ERROR =
      Pattern.compile(
          "(?i)(?<![\\w=])(?:error|fatal|critical|exception)(?![\\w=])|\\[Errno \\d+\\]"
              + "|\\b(?:could not|cannot|can't|failed to|unable to|no such file)\\b");

  private static final int LONGEST = 200;

  private ExitWords() {}

  /**
   * Returns the sentence for a program that ended with a status and explained nothing.
   *
   * @param status the exit status, as a shell sees it
   * @param lastLines what the program printed last; empty if it printed nothing at all
   */
  static String sentence(int status, List<LogLine> lastLines) {
    String ended = "The program ended with status " + status;
    if (lastLines.isEmpty()) {
      return ended + " and printed nothing." + meaning(status);
    }
    for (int i = lastLines.size() - 1; i >= 0; i--) {
      LogLine line = lastLines.get(i);
      if (line.isOurError() || (!line.isRemark() && ERROR.matcher(line.text()).find())) {
        return ended + " after it printed: " + LogLine.shortened(line.text().strip(), LONGEST);
      }
    }
    return ended + " and printed nothing that explains it." + meaning(status);
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
