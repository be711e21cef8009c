package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdoptedJobTest {
  @Test
  void anArrayIsOneJobAndItsIndicesBecomeTasks() {
    List<AdoptedJob> jobs =
        AdoptedJob.of(
            Rows.accounting("100 COMPLETED 10-20; 300 FAILED 12-30; 700-800 CANCELLED by 0 -40"));

    assertThat(jobs).hasSize(1);
    AdoptedJob job = jobs.get(0);
    assertThat(job.indices()).hasSize(103).startsWith(100, 300, 700).endsWith(800);
    assertThat(job.rows().get(1).tasks()).isEqualTo(IndexRange.of(1));
    assertThat(job.rows().get(2).tasks().indices()).hasSize(101).startsWith(2).endsWith(102);
    assertThat(job.ended()).isEqualTo(Rows.NOON.plusSeconds(40));
  }

  @Test
  void theFirstAttemptTellsWhenItWasSubmittedAndARunningOneThatItGoesOn() {
    List<AccountingRecord> rows =
        new ArrayList<>(Rows.accounting("none REQUEUED 10-20; none RUNNING 30-"));

    AdoptedJob job = AdoptedJob.of(rows).get(0);

    assertThat(job.indices()).containsExactly(0);
    assertThat(job.identity().submit()).isEqualTo(Rows.NOON.plusSeconds(10));
    assertThat(job.ended()).isEqualTo(Instant.MAX);
  }

  /** slurmctld began at 1 again. */
  @Test
  void anIdThatWasGivenOutAgainIsAnotherJob() {
    List<AdoptedJob> jobs =
        AdoptedJob.of(Rows.accounting("0 NODE_FAIL 10-20; 0 COMPLETED 30-40; 0 COMPLETED 900-910"));

    assertThat(jobs).extracting(job -> job.rows().size()).containsExactly(2, 1);
    assertThat(jobs)
        .extracting(job -> job.identity().submit())
        .containsExactly(Rows.NOON.plusSeconds(10), Rows.NOON.plusSeconds(900));
  }

  @Test
  void componentsOfAHeterogeneousJobAreItsTasks() {
    List<AccountingRecord> rows = new ArrayList<>();
    for (String line : List.of("none COMPLETED 10-20", "none COMPLETED 10-25")) {
      AccountingRecord row = Rows.accounting(line).get(0);
      rows.add(Rows.withRawId(row, Rows.JOB + rows.size()));
    }

    AdoptedJob job = AdoptedJob.of(rows).get(0);

    assertThat(job.indices()).containsExactly(0, 0);
    assertThat(job.rows())
        .extracting(AccountingRecord::tasks)
        .containsExactly(IndexRange.of(0), IndexRange.of(1));
  }

  @Test
  void anIdThatWasUsedAgainIsAnotherJob() {
    List<AccountingRecord> rows = new ArrayList<>(Rows.accounting("none COMPLETED 10-20"));
    rows.add(rows.get(0).of(rows.get(0).tasks(), "another"));

    assertThat(AdoptedJob.of(rows))
        .extracting(job -> job.identity().name())
        .containsExactly(Rows.KEY, "another");
  }
}
