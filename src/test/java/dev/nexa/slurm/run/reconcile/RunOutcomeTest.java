package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunOutcomeTest {
  private static final String CONFIRMED = "created submitting submitted confirmed";
  private static final long LATER = 10_000;

  /** Two tasks, none of which may be requeued; rows and queue as in {@link Rows}. */
  @ParameterizedTest(name = "{0} with {1} in the queue: {2}, {3}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          # rows                                      | queue                | status    | state         | tasks
          ``                                          | 0 PENDING; 1 PENDING | running   | pending       | 2 pending
          0 RUNNING 10-                               | 0 RUNNING; 1 PENDING | running   | running       | 1 pending, 1 running
          0 COMPLETED 10-70                           | 1 PENDING            | running   | running       | 1 pending, 1 completed
          0 COMPLETED 10-70; 1 COMPLETED 10-70        | ``                   | completed | completed     | 2 completed
          0 COMPLETED 10-70; 1 COMPLETED 10-70        | 1 COMPLETING         | running   | running       | 1 running, 1 completed
          0 COMPLETED 10-70; 1 COMPLETED 10-70        | 0 COMPLETED          | completed | completed     | 2 completed
          0 COMPLETED 10-70; 1 FAILED 10-70           | ``                   | failed    | failed        | 1 completed, 1 failed
          0 COMPLETED 10-70; 1 TIMEOUT 10-70          | ``                   | failed    | timeout       | 1 completed, 1 timeout
          0 OUT_OF_MEMORY 10-70; 1 OUT_OF_MEMORY 1-7  | ``                   | failed    | out_of_memory | 2 out_of_memory
          0 NODE_FAIL 10-70; 1 COMPLETED 10-70        | ``                   | failed    | node_fail     | 1 completed, 1 node_fail
          0 PREEMPTED 10-70; 1 COMPLETED 10-70        | ``                   | failed    | preempted     | 1 completed, 1 preempted
          0 BOOT_FAIL 10-70; 1 DEADLINE 10-70         | ``                   | failed    | boot_fail     | 1 boot_fail, 1 deadline
          0 CANCELLED by 1000 10-70; 1 COMPLETED 1-7  | ``                   | failed    | cancelled     | 1 completed, 1 cancelled
          0-1 CANCELLED by 1000 -70                   | ``                   | failed    | cancelled     | 2 cancelled
          # cancelled before it had tasks
          none CANCELLED by 0 -0                      | ``                   | failed    | cancelled     | 2 cancelled
          none CANCELLED by 0 -0                      | 0 RUNNING; 1 PENDING | running   | running       | 1 pending, 1 running
          none CANCELLED by 0 -0; 0 COMPLETED 10-70   | ``                   | failed    | cancelled     | 1 completed, 1 cancelled
          none PENDING -                              | ``                   | running   | pending       | 2 pending
          # a row without an end, or whose job goes on, is not final
          0 COMPLETED 10-70; 1 COMPLETED 10-          | ``                   | running   | running       | 2 completed
          0 COMPLETED 10-70; 1 RUNNING 10-            | ``                   | running   | running       | 1 running, 1 completed
          0 COMPLETED 10-70; 1 REQUEUED 10-70         | ``                   | running   | running       | 1 completed, 1 requeued
          0 COMPLETED 10-70; 1 FUTURE_STATE 10-70     | ``                   | running   | running       | 1 completed, 1 unrecognized
          # a task that waits to run again
          0 COMPLETED 10-70; 1 REQUEUED 10-70         | 1 PENDING            | retry     | running       | 1 pending, 1 completed
          0 FAILED 10-70; 1 RUNNING 10-               | 0 PENDING; 1 RUNNING | retry     | running       | 1 pending, 1 running
          0 NODE_FAIL 10-70; 1 NODE_FAIL 10-70        | 0 PENDING; 1 PENDING | retry     | pending       | 2 pending
          0 COMPLETED 10-70; 1 REQUEUED 10-70; 1 PENDING - | 1 PENDING       | retry     | running       | 1 pending, 1 completed
          0 COMPLETED 10-70; 1 REQUEUED 10-70         | 1 RUNNING            | running   | running       | 1 running, 1 completed
          0 COMPLETED 10-70; 1 COMPLETED 10-70        | 1 PENDING            | running   | running       | 1 pending, 1 completed
          # the newest row of a task decides
          0 COMPLETED 10-70; 1 FAILED 10-70; 1 COMPLETED 80-90 | ``          | completed | completed     | 2 completed
          0 COMPLETED 10-70; 1 COMPLETED 80-90; 1 REQUEUED 10-70 | ``        | completed | completed     | 2 completed
          """)
  void rowsAndQueueDecide(String rows, String queue, String status, String state, String tasks) {
    RunOutcome outcome = outcome(2, 0, CONFIRMED, rows, queue, LATER);

    assertThat(outcome.status().text()).isEqualTo(status);
    assertThat(outcome.state()).isEqualTo(state);
    assertThat(counts(outcome)).isEqualTo(tasks);
    assertThat(outcome.ended()).isEqualTo(List.of("completed", "failed").contains(status));
  }

  @ParameterizedTest(name = "{0}: {1}, {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          created                                    | failed  | not_submitted
          created submitting                         | running | unknown
          created submitting unknown                 | running | unknown
          created submitting submitted               | running | unconfirmed
          created submitting unknown adopted         | running | unconfirmed
          created submitting submitted confirmed     | running | pending
          created submitting refused                 | failed  | refused
          created submitting unknown closed          | failed  | not_submitted
          created submitting submitted closed        | failed  | vanished
          """)
  void withoutAnyRowTheJournalDecides(String journal, String status, String state) {
    RunOutcome outcome = outcome(2, 0, journal, "", "", LATER);

    assertThat(outcome.status().text()).isEqualTo(status);
    assertThat(outcome.state()).isEqualTo(state);
  }

  /**
   * Tasks 0 and 1 failed; task 1 runs again: its own new job decides, whatever the old one says.
   */
  @ParameterizedTest(name = "{0} with {1} in the queue: {2}, {3}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ``              | ``        | running | running     | 1 pending, 1 completed
          ``              | 1 PENDING | running | running     | 1 pending, 1 completed
          1 RUNNING 80-   | 1 RUNNING | running | running     | 1 running, 1 completed
          1 FAILED 80-90  | ``        | failed  | failed      | 1 completed, 1 failed
          1 COMPLETED 8-9 | ``        | completed | completed | 2 completed
          """)
  void theNewestSubmissionOfATaskDecides(
      String rows, String queue, String status, String state, String tasks) {
    String again = "train_20251101_120000.again1";
    List<Event> events = new ArrayList<>();
    events.add(event(Event.Type.SUBMITTING, Rows.KEY, "0-1", Rows.JOB));
    events.add(event(Event.Type.SUBMITTED, Rows.KEY, "0-1", Rows.JOB));
    events.add(event(Event.Type.CONFIRMED, Rows.KEY, "0-1", Rows.JOB));
    events.add(event(Event.Type.RERUN, again, "1", 0));
    events.add(event(Event.Type.SUBMITTING, again, "1", 200));
    events.add(event(Event.Type.SUBMITTED, again, "1", 200));
    List<AccountingRecord> all = new ArrayList<>(Rows.accounting("0 COMPLETED 1-7; 1 FAILED 1-7"));
    Rows.accounting(rows, 200).forEach(row -> all.add(named(row, again)));
    List<QueueEntry> queued = new ArrayList<>();
    Rows.queue(queue).forEach(entry -> queued.add(named(entry, again)));

    RunOutcome outcome =
        RunOutcome.of(
            Facts.of(2, 0),
            RunState.of(events),
            all,
            queued,
            Map.of(),
            Rows.NOON.plusSeconds(LATER));

    assertThat(outcome.status().text()).isEqualTo(status);
    assertThat(outcome.state()).isEqualTo(state);
    assertThat(counts(outcome)).isEqualTo(tasks);
    // What the old attempt cost stays in the account.
    long closed = all.stream().filter(AccountingRecord::ended).count();
    assertThat(outcome.attempts()).hasSize((int) closed);
  }

  private static Event event(Event.Type type, String key, String tasks, long job) {
    return new Event(
        type,
        Rows.NOON,
        new JsonObject()
            .with("key", key)
            .with("tasks", tasks)
            .with("job_id", job)
            .with("message", "")
            .with("reservation", "1"));
  }

  private static QueueEntry named(QueueEntry entry, String name) {
    return new QueueEntry(
        200, 200, entry.task(), entry.state(), entry.reason(), entry.start(), entry.end(), name);
  }

  private static AccountingRecord named(AccountingRecord row, String name) {
    return row.of(row.tasks(), name);
  }

  @Test
  void rowsThatEndedConfirmASubmission() {
    assertThat(
            outcome(1, 0, "created submitting submitted", "0 COMPLETED 10-70", "", LATER)
                .status()
                .text())
        .isEqualTo("completed");
    assertThat(
            outcome(1, 0, "created submitting unknown", "0 COMPLETED 10-70", "", LATER)
                .status()
                .text())
        .isEqualTo("running");
  }

  @ParameterizedTest(name = "{0}, {1} requeues, {2} s after it ended: {3}")
  @CsvSource({
    // Slurm may queue it again, and its new row shows only later
    "NODE_FAIL, 1, 60, running",
    "NODE_FAIL, 1, 121, failed",
    "PREEMPTED, 1, 60, running",
    "BOOT_FAIL, 1, 60, running",
    // Slurm does not requeue these by itself
    "FAILED, 1, 60, failed",
    "TIMEOUT, 1, 60, failed",
    // nothing is requeued that may not be
    "NODE_FAIL, 0, 60, failed",
  })
  void aTaskThatSlurmMayQueueAgainIsWaitedFor(
      String state, int requeues, long secondsAfter, String status) {
    assertThat(
            outcome(1, requeues, CONFIRMED, "0 " + state + " 10-70", "", 70 + secondsAfter)
                .status()
                .text())
        .isEqualTo(status);
  }

  @Test
  void aTaskCancelledWhileItWaitedLeavesNoRowAndIsSeenByTheOthersEnd() {
    String rows = "0 COMPLETED 10-70";

    assertThat(outcome(2, 0, CONFIRMED, rows, "", 70 + 60).status().text()).isEqualTo("running");
    assertThat(outcome(2, 0, CONFIRMED, rows, "", 70 + 121))
        .satisfies(
            outcome -> {
              assertThat(outcome.status().text()).isEqualTo("failed");
              assertThat(counts(outcome)).isEqualTo("1 completed, 1 cancelled");
            });
    assertThat(outcome(2, 0, CONFIRMED, rows, "1 PENDING", 70 + 121).status().text())
        .isEqualTo("running");
  }

  @Test
  void everyAttemptCostsAndWhatDidNotCompleteIsWasted() {
    String rows = "0 REQUEUED 10-70; 0 NODE_FAIL 100-130; 0 COMPLETED 300-400; 1 RUNNING 300-";
    RunOutcome outcome = outcome(2, 2, CONFIRMED, rows, "1 RUNNING", LATER);

    // 60 + 30 + 100 s on 4 CPUs and 2 GPUs; what still runs is not counted yet
    assertThat(outcome.used().cpuSeconds()).isEqualTo(190 * 4);
    assertThat(outcome.used().gpuSeconds()).containsEntry("h100", 190L * 2);
    assertThat(outcome.wasted().cpuSeconds()).isEqualTo(90 * 4);
    assertThat(outcome.attempts())
        .extracting(AccountingRecord::rawState)
        .containsExactly("REQUEUED", "NODE_FAIL", "COMPLETED");
  }

  @Test
  void whatNeverStartedCostsNothing() {
    RunOutcome outcome = outcome(4, 0, CONFIRMED, "0-3 CANCELLED by 1000 -70", "", LATER);

    assertThat(outcome.attempts()).isEmpty();
    assertThat(outcome.used().cpuSeconds()).isZero();
  }

  @Test
  void aDuplicateJobCostsButDecidesNothing() {
    List<AccountingRecord> rows = new java.util.ArrayList<>(Rows.accounting("0 COMPLETED 10-70"));
    rows.addAll(Rows.accounting("0 FAILED 10-20", Rows.JOB + 50));

    RunOutcome outcome =
        RunOutcome.of(
            Facts.of(1, 0),
            Facts.journal(1, CONFIRMED),
            rows,
            List.of(),
            Map.of(),
            Rows.NOON.plusSeconds(LATER));

    assertThat(outcome.status().text()).isEqualTo("completed");
    assertThat(outcome.used().cpuSeconds()).isEqualTo((60 + 10) * 4);
  }

  /** The lowest id stays, but its task found the work claimed and ended at once, with 0. */
  @Test
  void whoClaimedTheWorkDecidesNotWhoCameFirst() {
    List<AccountingRecord> rows = new java.util.ArrayList<>(Rows.accounting("0 COMPLETED 10-11"));
    rows.addAll(Rows.accounting("0 FAILED 10-70", Rows.JOB + 50));

    RunOutcome outcome =
        RunOutcome.of(
            Facts.of(1, 0),
            Facts.journal(1, CONFIRMED),
            rows,
            List.of(),
            Map.of(0, Rows.JOB + 51),
            Rows.NOON.plusSeconds(LATER));

    assertThat(outcome.status().text()).isEqualTo("failed");
    assertThat(outcome.used().cpuSeconds()).isEqualTo((60 + 1) * 4);
  }

  @Test
  void theOrderOfRowsDoesNotMatter() {
    List<AccountingRecord> rows =
        Rows.accounting("0 REQUEUED 10-70; 0 COMPLETED 80-90; 1 COMPLETED 10-30; 2 FAILED 10-20");
    RunOutcome straight = outcome(rows);
    java.util.Random random = new java.util.Random(4);
    for (int i = 0; i < 50; i++) {
      List<AccountingRecord> shuffled = new java.util.ArrayList<>(rows);
      java.util.Collections.shuffle(shuffled, random);

      assertThat(outcome(shuffled)).isEqualTo(straight);
    }
  }

  /** Slurm 22.05 keeps the row of the tasks that waited as it was before one of them started. */
  @Test
  void theRowOfWaitingTasksSaysNothingOfATaskWithARowOfItsOwn() {
    List<AccountingRecord> rows =
        new java.util.ArrayList<>(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED -20"));
    AccountingRecord shared = Rows.accounting("1-2 CANCELLED by 0 -70").get(0);
    for (int place = 0; place <= 2; place++) {
      rows.add(place, shared);
      RunOutcome outcome = outcome(rows);
      rows.remove(place);

      assertThat(counts(outcome)).isEqualTo("2 completed, 1 cancelled");
      assertThat(outcome.tasks().get(1).attempts()).hasSize(1);
    }
  }

  /** For a team that serves, WASTED would be the whole bill. */
  @Test
  void aServerThatWasStoppedHasServed() {
    assertThat(RunOutcome.withResult("serve"))
        .containsExactlyInAnyOrder(JobState.COMPLETED, JobState.CANCELLED, JobState.TIMEOUT);
    assertThat(RunOutcome.withResult("train")).containsExactly(JobState.COMPLETED);
  }

  private static RunOutcome outcome(List<AccountingRecord> rows) {
    return RunOutcome.of(
        Facts.of(3, 1),
        Facts.journal(3, CONFIRMED),
        rows,
        List.of(),
        Map.of(),
        Rows.NOON.plusSeconds(LATER));
  }

  private static RunOutcome outcome(
      int tasks, int requeues, String journal, String rows, String queue, long now) {
    return RunOutcome.of(
        Facts.of(tasks, requeues),
        Facts.journal(tasks, journal),
        Rows.accounting(rows),
        Rows.queue(queue),
        Map.of(),
        Rows.NOON.plusSeconds(now));
  }

  private static String counts(RunOutcome outcome) {
    return outcome.counts().entrySet().stream()
        .map(entry -> entry.getValue() + " " + entry.getKey())
        .collect(Collectors.joining(", "))
        .toLowerCase(java.util.Locale.ROOT);
  }
}
