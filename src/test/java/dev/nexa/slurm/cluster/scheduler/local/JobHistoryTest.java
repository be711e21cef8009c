package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The story of an array of ten, three at once. */
class JobHistoryTest {
  private final Job job =
      Jobs.of("#SBATCH --array=0-9%3 --mem=1G --account=research --partition=cpu");
  private final JobHistory history = new JobHistory(job);

  private void happened(JobEvent... events) {
    for (JobEvent event : events) {
      history.apply(new JobEvent(Json.parseObject(event.json().toString())));
    }
  }

  /** Raw id, tasks, state, exit code, submit, start, end, elapsed, nodes, allocated. */
  private List<String> rows(long since, long now) {
    return history.rows(since, now).stream().map(this::shown).toList();
  }

  private String shown(AccountingRecord row) {
    assertThat(row.arrayJobId()).isEqualTo(12);
    assertThat(row.ended()).isEqualTo(row.end().isPresent());
    return String.join(
        "|",
        "" + row.rawJobId(),
        row.shownId(),
        row.rawState(),
        row.exitCode(),
        seconds(Optional.of(row.submit())),
        seconds(row.start()),
        seconds(row.end()),
        "" + row.elapsedSeconds(),
        row.nodes(),
        row.allocTres());
  }

  private static String seconds(Optional<Instant> at) {
    return at.map(time -> "" + time.getEpochSecond()).orElse("-");
  }

  @Test
  void aPendingArrayIsOneRow() {
    assertThat(rows(0, 1000)).containsExactly("12|12_0-9|PENDING|0:0|1000|-|-|0|None assigned|");
  }

  @Test
  void everyTaskThatStartedHasItsOwn() {
    happened(
        JobEvent.start(1001, 0, 13),
        JobEvent.start(1001, 1, 14),
        JobEvent.end(1005, 0, "FAILED", "3:0"),
        JobEvent.gone(1005, 0));
    assertThat(rows(0, 1010))
        .containsExactly(
            "13|12_0|FAILED|3:0|1000|1001|1005|4|box|billing=1,cpu=1,mem=1024M,node=1",
            "14|12_1|RUNNING|0:0|1000|1001|-|9|box|billing=1,cpu=1,mem=1024M,node=1",
            "12|12_2-9|PENDING|0:0|1000|-|-|0|None assigned|");
    assertThat(rows(1006, 1010)).hasSize(2);
  }

  @Test
  void aRequeueIsAnotherRow() {
    happened(
        JobEvent.start(1001, 0, 13),
        JobEvent.end(1002, 0, "REQUEUED", true),
        JobEvent.gone(1004, 0),
        JobEvent.start(1006, 0, 13));
    assertThat(rows(0, 1010))
        .startsWith(
            "13|12_0|REQUEUED|0:0|1000|1001|1002|1|box|billing=1,cpu=1,mem=1024M,node=1",
            "13|12_0|RUNNING|0:0|1004|1006|-|4|box|billing=1,cpu=1,mem=1024M,node=1");
    assertThat(history.last(attempt -> true).get(0).restart()).isEqualTo(1);
  }

  @Test
  void aFinishedTaskThatIsRequeuedKeepsItsEndAndExitCode() {
    happened(
        JobEvent.start(1001, 0, 13),
        JobEvent.end(1005, 0, "FAILED", "3:0"),
        JobEvent.gone(1005, 0),
        JobEvent.end(1020, 0, "REQUEUED", true));
    assertThat(rows(0, 1030))
        .startsWith(
            "13|12_0|REQUEUED|3:0|1000|1001|1005|4|box|billing=1,cpu=1,mem=1024M,node=1",
            "13|12_0|PENDING|0:0|1020|-|-|0|None assigned|");
  }

  @Test
  void whatWasCancelledBeforeItStartedIsOneRow() {
    happened(JobEvent.end(1003, 4, "CANCELLED by 0", "0:0"));
    for (int task : new int[] {0, 1, 2, 3, 5, 6, 7, 8, 9}) {
      happened(JobEvent.end(1007, task, "CANCELLED by 0", "0:0"));
    }
    assertThat(history.open()).isFalse();
    assertThat(rows(0, 1010))
        .containsExactly(
            "12|12_0-3,5-9|CANCELLED by 0|0:0|1000|-|1007|0|None assigned|",
            "12|12_4|CANCELLED by 0|0:0|1000|-|1003|0|None assigned|");
  }

  @Test
  void aJobThatIsNoArrayHasNoTaskInItsId() {
    Job single = Jobs.of("#SBATCH --time=5");
    AccountingRecord row = new JobHistory(single).rows(0, 1000).get(0);
    assertThat(row.shownId()).isEqualTo("12");
    assertThat(row.cluster()).isEqualTo("local");
    assertThat(row.partition()).isEqualTo("local");
    assertThat(row.state()).isEqualTo(JobState.PENDING);
    assertThat(row.ended()).isFalse();
  }

  /** If the clock is set back, no time of an attempt is before the one that it follows. */
  @Test
  void aClockThatWasSetBackMakesNoRowThatContradictsItself() {
    happened(
        JobEvent.start(900, 0, 13),
        JobEvent.end(800, 0, "COMPLETED", "0:0"),
        JobEvent.gone(800, 0));
    assertThat(rows(0, 700))
        .startsWith("13|12_0|COMPLETED|0:0|1000|1000|1000|0|box|billing=1,cpu=1,mem=1024M,node=1");
  }
}
