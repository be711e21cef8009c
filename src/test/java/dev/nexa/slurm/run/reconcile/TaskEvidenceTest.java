package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspaces;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TaskEvidenceTest {
  private static final RunState SUBMITTED = Facts.journal(2, "created submitting submitted");
  private static final RunState UNKNOWN = Facts.journal(2, "created submitting unknown");

  private final FakeScheduler scheduler = new FakeScheduler();

  @Test
  void theQueueIsAskedBeforeAccountingAndEachOnceForAllRuns() {
    TaskEvidence.gather(scheduler, List.of(SUBMITTED, UNKNOWN, SUBMITTED));

    assertThat(scheduler.asked)
        .containsExactly("queue", "accounting of [100]", "accounting of [" + Rows.KEY + "]");
  }

  @Test
  void aRunWithoutASubmissionNeedsNoAnswer() {
    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(Facts.journal(2, "created")));

    assertThat(scheduler.asked).isEmpty();
    assertThat(evidence.rowsRead()).isZero();
  }

  @Test
  void rowsAndEntriesAreThoseOfTheRunByTheJobsName() {
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70"));
    scheduler.queue.addAll(Rows.queue("1 RUNNING"));
    scheduler.queue.add(
        new QueueEntry(
            7, 7, 0, JobState.RUNNING, "None", Optional.empty(), Optional.empty(), "interactive"));

    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(rows(evidence)).hasSize(1);
    assertThat(evidence.queue(SUBMITTED)).hasSize(1);
    assertThat(evidence.queue(Facts.journal(2, "created"))).isEmpty();
    assertThat(evidence.rowsRead()).isEqualTo(1);
  }

  /** Before its tasks have rows, an array was seen as one row that names no task. */
  @Test
  void aRowThatNamesNoTaskIsReadAndLeftOut() {
    scheduler.rows.addAll(Rows.accounting("none PENDING -; 0 COMPLETED 10-70"));

    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(rows(evidence)).hasSize(1);
    assertThat(evidence.rowsRead()).isEqualTo(2);
  }

  @Test
  void oneThatWasCancelledBeforeItHadTasksIsKept() {
    scheduler.rows.addAll(Rows.accounting("none CANCELLED by 0 -0"));

    assertThat(rows(TaskEvidence.gather(scheduler, List.of(SUBMITTED)))).hasSize(1);
  }

  @Test
  void whereNoAccountingIsKeptNoneIsAskedFor() {
    scheduler.accountingKept = false;

    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(scheduler.asked).containsExactly("queue");
    assertThat(evidence.accountingKept()).isFalse();
  }

  @Test
  void anOutageIsNoEvidence() {
    scheduler.down = true;

    assertThatThrownBy(() -> TaskEvidence.gather(scheduler, List.of(SUBMITTED)))
        .isInstanceOf(SchedulerUnavailable.class);
  }

  private static List<AccountingRecord> rows(TaskEvidence evidence) {
    RunFolder run = Workspaces.inMemory().run(Facts.ID);
    return evidence.rows(run, Facts.of(2, 0), SUBMITTED.last().orElseThrow(), new ArrayList<>());
  }
}
