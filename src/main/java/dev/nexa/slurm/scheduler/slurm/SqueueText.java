package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads what our squeue call printed. Pure. */
public final class SqueueText {
  private static final Pattern DELIMITER = Pattern.compile(String.valueOf(SacctText.DELIMITER));
  private static final int FIELDS = 8;

  private SqueueText() {}

  /** The entries; lines of another shape (a {@code CLUSTER:} heading) are no entries. */
  public static List<QueueEntry> read(String text) {
    List<QueueEntry> entries = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      String[] field = DELIMITER.split(line, FIELDS);
      if (field.length == FIELDS) {
        entries.add(entry(field));
      }
    }
    return entries;
  }

  private static QueueEntry entry(String[] field) {
    return new QueueEntry(
        Long.parseLong(field[0].strip()),
        Long.parseLong(field[1].strip()),
        field[2].equals("N/A") ? 0 : Integer.parseInt(field[2]),
        JobState.parse(field[3]),
        field[4],
        time(field[5]),
        time(field[6]),
        field[7]);
  }

  /** Epoch seconds, by SLURM_TIME_FORMAT; {@code N/A} where not known. */
  private static Optional<Instant> time(String text) {
    boolean digits = !text.isEmpty() && text.chars().allMatch(Character::isDigit);
    return digits ? Optional.of(Instant.ofEpochSecond(Long.parseLong(text))) : Optional.empty();
  }
}
