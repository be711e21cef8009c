package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the output of the squeue calls of {@link SlurmCommands}. Pure. */
public final class SqueueText {
  /** ASCII unit separator. In squeue's format the name, which can hold it, is last. */
  public static final String DELIMITER = "\u001f";

  private static final int FIELDS = 8;

  private SqueueText() {}

  /**
   * Returns the tasks, in squeue's order. Lines of another shape, such as a {@code CLUSTER:}
   * heading, are skipped. A component of a heterogeneous job counts as a task. A job that names no
   * task, such as one that is no array, counts as task 0.
   */
  public static List<QueueEntry> read(String text) {
    List<QueueEntry> entries = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      String[] field = line.split(DELIMITER, FIELDS);
      if (isRead(line)) {
        long id = PrintedValue.id(field[0]).orElseThrow();
        IndexRange tasks = PrintedValue.tasks(field[2]);
        if (tasks.indices().isEmpty()) {
          int plus = field[1].indexOf('+');
          int component = plus < 0 ? 0 : PrintedValue.count(field[1].substring(plus + 1)).orElse(0);
          entries.add(entry(id, component, field));
        }
        for (int task : tasks.indices()) {
          entries.add(entry(id, task, field));
        }
      }
    }
    return entries;
  }

  /**
   * Returns the first line that {@link #read} skips, except a {@code CLUSTER:} heading and the rest
   * of a job's name, which can have several lines.
   */
  public static Optional<String> odd(String text) {
    boolean inName = false;
    for (String line : text.split("\n", -1)) {
      if (isRead(line)) {
        inName = true;
      } else if (line.startsWith("CLUSTER:")) {
        inName = false;
      } else if (!line.isBlank() && (!inName || line.contains(DELIMITER))) {
        return Optional.of(line);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the first line that was asked for, because it has the delimiter, but cannot be read: a
   * job may hide in it. Other lines are headings, a site's notices or the rest of a job's name.
   */
  public static Optional<String> broken(String text) {
    return Stream.of(text.split("\n", -1))
        .filter(line -> line.contains(DELIMITER) && !isRead(line))
        .findFirst();
  }

  private static boolean isRead(String line) {
    String[] field = line.split(DELIMITER, FIELDS);
    return field.length == FIELDS && PrintedValue.id(field[0]).isPresent();
  }

  private static QueueEntry entry(long id, int task, String[] field) {
    return new QueueEntry(
        id,
        PrintedValue.id(field[1].split("[_+]", 2)[0]).orElse(id),
        task,
        JobState.parse(field[3]),
        field[4],
        PrintedValue.time(field[5]),
        PrintedValue.time(field[6]),
        field[7]);
  }
}
