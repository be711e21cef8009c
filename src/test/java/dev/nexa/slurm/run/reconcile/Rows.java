package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rows of accounting and of the queue, written short: {@code 0 COMPLETED 10-70} is task 0 from the
 * tenth to the seventieth second after noon, {@code 1 RUNNING 10-} runs still, {@code 2-4 CANCELLED
 * by 1000 -70} never started. Several are separated by semicolons.
 */
public final class Rows {
  /** The key of the run's first submission. */
  public static final String KEY = "train_20251101_120000.abc123";

  /** The array's job id. */
  public static final long JOB = 100;

  /** The second at which every clock of these tests begins. */
  public static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");

  /** What each row held: four CPUs, 8 GiB, two GPUs. */
  public static final String TRES = "billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1";

  private static final Pattern ROW = Pattern.compile("(\\S+) (.+?) (\\d*)-(\\d*)");

  private Rows() {}

  static List<AccountingRecord> accounting(String text) {
    return accounting(text, JOB);
  }

  static List<AccountingRecord> accounting(String text, long job) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (String one : split(text)) {
      Matcher row = ROW.matcher(one);
      if (!row.matches()) {
        throw new IllegalArgumentException(one);
      }
      rows.add(row(job, row.group(1), row.group(2), second(row.group(3)), second(row.group(4))));
    }
    return rows;
  }

  private static AccountingRecord row(
      long job, String tasks, String state, Optional<Instant> start, Optional<Instant> end) {
    IndexRange indices = tasks.equals("none") ? IndexRange.upTo(0) : IndexRange.parse(tasks);
    boolean one = indices.indices().size() == 1;
    long elapsed =
        start.isPresent() && end.isPresent()
            ? end.get().getEpochSecond() - start.get().getEpochSecond()
            : 0;
    return new AccountingRecord(
        new AccountingRecord.JobIds(
            "nexa", job, one ? job + 1 + indices.indices().get(0) : job, indices, KEY),
        new AccountingRecord.Association("ada", "nlp", "gpu"),
        new AccountingRecord.Status(JobState.parse(state), state, "0:0", "None"),
        new AccountingRecord.Times(start.orElse(NOON), start, end, elapsed),
        new AccountingRecord.Allocated(
            start.isPresent() ? "n1" : "None assigned",
            start.isPresent() ? 1 : 0,
            start.isPresent() ? TRES : "",
            TRES),
        AccountingRecord.Witness.ACCOUNTING,
        AccountingRecord.More.NONE);
  }

  /** The only row of that text, as slurmctld's memory has it. */
  static ControllerJob remembered(String text, int restarts, String tres) {
    return new ControllerJob(
        changed(
            accounting(text).get(0),
            accounting(text).get(0).rawJobId(),
            tres,
            AccountingRecord.Witness.CONTROLLER),
        restarts);
  }

  /** The row of an allocation that held something else. */
  static AccountingRecord holding(AccountingRecord row, String tres) {
    return changed(row, row.rawJobId(), tres);
  }

  /** The row of another task's own id. */
  static AccountingRecord withRawId(AccountingRecord row, long id) {
    return changed(row, id, row.allocTres());
  }

  private static AccountingRecord changed(AccountingRecord row, long id, String tres) {
    return changed(row, id, tres, row.witness());
  }

  private static AccountingRecord changed(
      AccountingRecord row, long id, String tres, AccountingRecord.Witness witness) {
    return new AccountingRecord(
        new AccountingRecord.JobIds(row.cluster(), row.arrayJobId(), id, row.tasks(), row.name()),
        new AccountingRecord.Association(row.user(), row.account(), row.partition()),
        new AccountingRecord.Status(row.state(), row.rawState(), row.exitCode(), row.reason()),
        new AccountingRecord.Times(row.submit(), row.start(), row.end(), row.elapsedSeconds()),
        new AccountingRecord.Allocated(row.nodes(), row.nodeCount(), tres, row.reqTres()),
        witness,
        AccountingRecord.More.NONE);
  }

  static List<QueueEntry> queue(String text) {
    List<QueueEntry> entries = new ArrayList<>();
    for (String one : split(text)) {
      String[] word = one.split(" ", -1);
      int task = Integer.parseInt(word[0]);
      entries.add(
          new QueueEntry(
              JOB + 1 + task,
              JOB,
              task,
              JobState.parse(word[1]),
              "None",
              second(word, 2),
              second(word, 3),
              KEY));
    }
    return entries;
  }

  private static Optional<Instant> second(String[] words, int index) {
    return index < words.length ? second(words[index]) : Optional.empty();
  }

  private static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    for (String part : text.split(";", -1)) {
      if (!part.isBlank()) {
        parts.add(part.strip());
      }
    }
    return parts;
  }

  private static Optional<Instant> second(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(NOON.plusSeconds(Long.parseLong(text)));
  }
}
