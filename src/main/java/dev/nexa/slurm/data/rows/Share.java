package dev.nexa.slurm.data.rows;

import java.math.BigInteger;

/**
 * The rows that one of several tasks takes. A row belongs to the task by a SHA-256: task 0 has the
 * smallest digests, the last task the largest. Put together in the order of the tasks, sorted rows
 * stay sorted, whatever the number of tasks.
 *
 * @param task the number of the task, from 0
 * @param tasks the number of all tasks
 */
public record Share(int task, int tasks) {
  /** All rows. */
  public static final Share ALL = new Share(0, 1);

  private static final BigInteger END = BigInteger.ONE.shiftLeft(64);

  /** Returns whether the task has all rows. */
  public boolean all() {
    return tasks == 1;
  }

  /**
   * Returns the SQL condition that a row belongs to the task.
   *
   * @param digest SQL for 64 lower-case hex digits
   */
  public String owns(String digest) {
    if (all()) {
      return "true";
    }
    String from = digest + " >= '" + hex(task) + "'";
    return task + 1 == tasks ? from : from + " AND " + digest + " < '" + hex(task + 1) + "'";
  }

  /** Returns whether a row belongs to the task; {@code digest} has 64 lower-case hex digits. */
  public boolean has(String digest) {
    if (all()) {
      return true;
    }
    String start = digest.substring(0, 16);
    return start.compareTo(hex(task)) >= 0
        && (task + 1 == tasks || start.compareTo(hex(task + 1)) < 0);
  }

  /** Returns the first 16 hex digits of the first digest that the task has. */
  private String hex(int number) {
    BigInteger first = END.multiply(BigInteger.valueOf(number)).divide(BigInteger.valueOf(tasks));
    return String.format("%016x", first);
  }

  /** Returns a file's name: {@code train-00003.parquet}, or with the task's number if several. */
  public String fileName(String stem, int number, String end) {
    return all()
        ? String.format("%s-%05d.%s", stem, number, end)
        : String.format("%s-%05d-%05d.%s", stem, task, number, end);
  }
}
