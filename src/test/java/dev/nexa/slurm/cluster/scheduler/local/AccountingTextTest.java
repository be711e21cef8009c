package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The story of an array of ten, three at once. */
class AccountingTextTest {
  private final Job job = Jobs.of("#SBATCH --array=0-9%3 --mem=1G --account=research -p cpu");
  private final JobHistory history = new JobHistory(job);

  private void happened(JobEvent... events) {
    for (JobEvent event : events) {
      history.apply(JobEvent.parse(event.line().strip()));
    }
  }

  /** JobIDRaw, JobID, State, ExitCode, Submit, Start, End, Elapsed, NodeList, AllocTRES. */
  private List<String> rows(long since, long now) {
    List<Integer> columns = List.of(0, 1, 6, 7, 8, 9, 10, 11, 13, 14);
    return AccountingText.of(job, history.all(), since, now)
        .lines()
        .map(line -> line.split(String.valueOf(SacctText.DELIMITER), -1))
        .peek(fields -> assertThat(fields).hasSameSizeAs(SacctText.FIELDS))
        .map(fields -> columns.stream().map(column -> fields[column]).toList())
        .map(fields -> String.join("|", fields))
        .toList();
  }

  @Test
  void aPendingArrayIsOneRow() {
    assertThat(rows(0, 1000))
        .containsExactly("12|12_[0-9%3]|PENDING|0:0|1000|Unknown|Unknown|0|None assigned|");
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
            "14|12_1|RUNNING|0:0|1000|1001|Unknown|9|box|billing=1,cpu=1,mem=1024M,node=1",
            "12|12_[2-9%3]|PENDING|0:0|1000|Unknown|Unknown|0|None assigned|");
    assertThat(rows(1006, 1010)).hasSize(2);
  }

  @Test
  void aRequeueIsAnotherRow() {
    happened(
        JobEvent.start(1001, 0, 13),
        JobEvent.requeue(1002, 0, "REQUEUED"),
        JobEvent.gone(1004, 0),
        JobEvent.start(1006, 0, 13));
    assertThat(rows(0, 1010))
        .startsWith(
            "13|12_0|REQUEUED|0:0|1000|1001|1002|1|box|billing=1,cpu=1,mem=1024M,node=1",
            "13|12_0|RUNNING|0:0|1004|1006|Unknown|4|box|billing=1,cpu=1,mem=1024M,node=1");
    assertThat(history.last(0).restart()).isEqualTo(1);
  }

  @Test
  void aFinishedTaskThatIsRequeuedKeepsItsEndAndExitCode() {
    happened(
        JobEvent.start(1001, 0, 13),
        JobEvent.end(1005, 0, "FAILED", "3:0"),
        JobEvent.gone(1005, 0),
        JobEvent.requeue(1020, 0, "REQUEUED"));
    assertThat(rows(0, 1030))
        .startsWith(
            "13|12_0|REQUEUED|3:0|1000|1001|1005|4|box|billing=1,cpu=1,mem=1024M,node=1",
            "13|12_0|PENDING|0:0|1020|Unknown|Unknown|0|None assigned|");
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
            "12|12_[0-3,5-9%3]|CANCELLED by 0|0:0|1000|None|1007|0|None assigned|",
            "12|12_4|CANCELLED by 0|0:0|1000|None|1003|0|None assigned|");
  }

  @Test
  void aJobThatIsNoArrayHasNoTaskInItsId() {
    Job single = Jobs.of("#SBATCH --time=5");
    String text = AccountingText.of(single, new JobHistory(single).all(), 0, 1000);
    assertThat(Arrays.asList(text.split(String.valueOf(SacctText.DELIMITER), -1)))
        .startsWith("12", "12", "local", "ann", "", "local", "PENDING");
  }
}
