package dev.nexa.slurm.report;

import dev.nexa.slurm.units.IndexRange;

/** What stands around the lines of several tasks' logs. Pure. */
public final class LogText {
  /** ANSI's foreground colours but red, which looks like an error, and black, white and grey. */
  private static final int[] COLOURS = {36, 33, 32, 35, 34};

  private LogText() {}

  /**
   * What a line of the task begins with: {@code [7]} and blanks, as wide as that of the last task.
   *
   * @param tasks how many tasks the run has
   * @param colour whether a terminal shows it
   */
  public static String prefix(int task, int tasks, boolean colour) {
    String padding = " ".repeat(digits(tasks - 1) - digits(task) + 1);
    String label = "[" + task + "]";
    return colour
        ? "\u001b[" + COLOURS[task % COLOURS.length] + "m" + label + "\u001b[0m" + padding
        : label + padding;
  }

  private static int digits(int number) {
    return Integer.toString(number).length();
  }

  /**
   * The line above a failed task's last lines, in the shape of tail(1)'s.
   *
   * @param state as accounting prints it, such as {@code CANCELLED by 1000}
   * @param exitCode {@code exit:signal} as accounting prints it; empty where the task never began
   * @param log the log's path, or what to say where there is none
   */
  public static String failed(int task, String state, String exitCode, String log) {
    return "==> task " + task + ": " + state + exit(exitCode) + ", " + log + " <==";
  }

  private static String exit(String exitCode) {
    if (exitCode.isEmpty()) {
      return "";
    }
    int colon = exitCode.indexOf(':');
    String exit = colon < 0 ? exitCode : exitCode.substring(0, colon);
    String signal = colon < 0 ? "0" : exitCode.substring(colon + 1);
    return ", exit code " + exit + (signal.equals("0") ? "" : ", signal " + signal);
  }

  /** The line for tasks of one state that have no log. */
  public static String silent(IndexRange tasks, String state) {
    String subject = tasks.indices().size() == 1 ? "task " : "tasks ";
    return "==> " + subject + tasks + ": " + state + ", printed nothing <==";
  }

  /** The line between the failed tasks' last lines and every task's whole log. */
  public static String all(int tasks) {
    return "==> all " + tasks + " tasks <==";
  }
}
