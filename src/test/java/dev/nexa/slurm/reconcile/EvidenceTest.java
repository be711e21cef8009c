package dev.nexa.slurm.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspaces;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EvidenceTest {
  private static final RunState SUBMITTED = Facts.journal(2, "created submitting submitted");
  private static final RunState UNKNOWN = Facts.journal(2, "created submitting unknown");

  private final FakeScheduler scheduler = new FakeScheduler();

  @Test
  void theQueueIsAskedBeforeAccountingAndEachOnceForAllRuns() {
    Evidence.gather(scheduler, List.of(SUBMITTED, UNKNOWN, SUBMITTED));

    assertThat(scheduler.asked)
        .containsExactly("queue", "accounting of [100]", "accounting of [" + Rows.KEY + "]");
  }

  @Test
  void aRunWithoutASubmissionNeedsNoAnswer() {
    Evidence evidence = Evidence.gather(scheduler, List.of(Facts.journal(2, "created")));

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

    Evidence evidence = Evidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(rows(evidence)).hasSize(1);
    assertThat(evidence.queue(SUBMITTED)).hasSize(1);
    assertThat(evidence.queue(Facts.journal(2, "created"))).isEmpty();
    assertThat(evidence.rowsRead()).isEqualTo(1);
  }

  /** Before its tasks have rows, an array was seen as one row that names no task. */
  @Test
  void aRowThatNamesNoTaskIsReadAndLeftOut() {
    scheduler.rows.addAll(Rows.accounting("none PENDING -; 0 COMPLETED 10-70"));

    Evidence evidence = Evidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(rows(evidence)).hasSize(1);
    assertThat(evidence.rowsRead()).isEqualTo(2);
  }

  @Test
  void oneThatWasCancelledBeforeItHadTasksIsKept() {
    scheduler.rows.addAll(Rows.accounting("none CANCELLED by 0 -0"));

    assertThat(rows(Evidence.gather(scheduler, List.of(SUBMITTED)))).hasSize(1);
  }

  @Test
  void whereNoAccountingIsKeptNoneIsAskedFor() {
    scheduler.accountingKept = false;

    Evidence evidence = Evidence.gather(scheduler, List.of(SUBMITTED));

    assertThat(scheduler.asked).containsExactly("queue");
    assertThat(evidence.accountingKept()).isFalse();
  }

  @Test
  void anOutageIsNoEvidence() {
    scheduler.down = true;

    assertThatThrownBy(() -> Evidence.gather(scheduler, List.of(SUBMITTED)))
        .isInstanceOf(SchedulerUnavailable.class);
  }

  private static List<AccountingRecord> rows(Evidence evidence) {
    RunFolder run = Workspaces.inMemory().run(Facts.ID);
    return evidence.rows(run, Facts.of(2, 0), SUBMITTED.last().orElseThrow(), new ArrayList<>());
  }
}
