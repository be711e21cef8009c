package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.units.IndexRange;
import java.util.List;

/** Formats the lines around the logs of several tasks. Reads no file. */
public final class LogText {
  /** ANSI foreground colours. Red looks like an error; black, white and grey may be invisible. */
  private static final int[] COLOURS = {36, 33, 32, 35, 34};

  private LogText() {}

  /**
   * Returns the prefix of a task's lines: {@code [7]} and blanks, as wide as the last task's
   * prefix.
   *
   * @param tasks the number of the run's tasks
   * @param colour whether to add ANSI colours
   */
  public static String prefix(int task, int tasks, boolean colour) {
    int digits = Integer.toString(tasks - 1).length();
    return prefix("" + task, digits, task, colour);
  }

  /** Returns the prefix of a group's lines: {@code [trainer]} and blanks, as wide as the widest. */
  static String prefix(List<String> groups, int task, boolean colour) {
    int width = groups.stream().mapToInt(String::length).max().orElse(0);
    return prefix(groups.get(task), width, task, colour);
  }

  private static String prefix(String name, int width, int task, boolean colour) {
    String padding = " ".repeat(width - name.length() + 1);
    String label = "[" + name + "]";
    return colour
        ? "\u001b[" + COLOURS[task % COLOURS.length] + "m" + label + "\u001b[0m" + padding
        : label + padding;
  }

  /**
   * Returns the heading above a failed task's last lines, in the form of tail(1).
   *
   * @param state the state as sacct prints it, such as {@code CANCELLED by 1000}
   * @param exitCode {@code exit:signal} as sacct prints it; empty if the task never began
   * @param log the log's path, or a phrase if there is none
   */
  public static String failed(int task, String state, String exitCode, String log) {
    return "==> task " + task + ": " + state + exit(exitCode) + ", " + log + " <==";
  }

  private static String exit(String exitCode) {
    if (exitCode.isEmpty()) {
      return "";
    }
    // Such as 1:0, where 0 is no signal.
    return ", exit code " + exitCode.replaceFirst(":0$", "").replace(":", ", signal ");
  }

  /** Returns the heading for tasks of one state that have no log. */
  public static String silent(IndexRange tasks, String state) {
    String subject = tasks.indices().size() == 1 ? "task " : "tasks ";
    return "==> " + subject + tasks + ": " + state + ", printed nothing <==";
  }

  /** Returns the line about a run none of whose tasks has begun. */
  public static String waits(String run, String reason) {
    return run + " is queued: " + reason;
  }

  /** Returns the heading between the failed tasks' last lines and all logs. */
  public static String all(int tasks) {
    return "==> all " + tasks + " tasks <==";
  }
}
