package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** On what slurmctld 22.05.8 told: src/test/resources/scontrol/README.md. */
class JobTextTest {
  private final Map<Long, ControllerJob> jobs = new HashMap<>();

  JobTextTest() {
    String text =
        DurableFiles.read(
            Path.of("src/test/resources/scontrol/22.05.8-show-job-without-accounting.txt"));
    JobText.read(text).forEach(job -> jobs.put(job.row().rawJobId(), job));
  }

  @Test
  void eachTaskIsARowWithItsGpus() {
    AccountingRecord row = jobs.get(3L).row();

    assertThat(jobs).hasSize(10);
    assertThat(row.arrayJobId()).isEqualTo(1);
    assertThat(row.tasks()).hasToString("1");
    assertThat(row.name()).isEqualTo("data_20251101_143200.abc123");
    assertThat(row.user()).isEqualTo("root");
    assertThat(row.account()).isEmpty();
    assertThat(row.partition()).isEqualTo("gpu");
    assertThat(row.state()).isEqualTo(JobState.FAILED);
    assertThat(row.exitCode()).isEqualTo("3:0");
    assertThat(row.nodes()).isEqualTo("q1");
    assertThat(row.nodeCount()).isEqualTo(1);
    assertThat(row.allocTres()).isEqualTo("cpu=2,mem=200M,node=1,billing=2,gres/gpu:h100=2");
    assertThat(row.witness()).isEqualTo(AccountingRecord.Witness.CONTROLLER);
  }

  @Test
  void theTimesAreSlurmctlds() {
    AccountingRecord row = jobs.get(4L).row();

    assertThat(row.state()).isEqualTo(JobState.TIMEOUT);
    assertThat(row.submit()).isEqualTo(Instant.ofEpochSecond(1795307674));
    assertThat(row.start()).contains(Instant.ofEpochSecond(1795307674));
    assertThat(row.end()).contains(Instant.ofEpochSecond(1795307752));
    assertThat(row.elapsedSeconds()).isEqualTo(78);
  }

  @Test
  void whatWasQueuedAgainTellsHowOften() {
    assertThat(jobs.get(10L).restarts()).isEqualTo(1);
    assertThat(jobs.get(8L).restarts()).isZero();
  }

  /** 23.02 and later: src/api/job_info.c; a pending range is no task yet. */
  @Test
  void newerVersionsTellTheAllocationByItself() {
    assertThat(
            JobText.read(
                """
                JobId=5 JobName=x UserId=ada(1000) JobState=COMPLETED RunTime=1-00:00:01 \
                NodeList=n[1-2] NumNodes=2 StartTime=100 EndTime=200 \
                ReqTRES=cpu=1 AllocTRES=cpu=4,gres/gpu=2 JOB_GRES=gpu:2
                JobId=6 ArrayJobId=6 ArrayTaskId=3-9%2 JobName=y JobState=PENDING

                """
                    .replace("\\\n", "")))
        .singleElement()
        .satisfies(
            job -> {
              assertThat(job.row().allocTres()).isEqualTo("cpu=4,gres/gpu=2");
              assertThat(job.row().elapsedSeconds()).isEqualTo(86_401);
              assertThat(job.row().nodeCount()).isEqualTo(2);
            });
  }

  @Test
  void nothingIsNothing() {
    assertThat(JobText.read("")).isEmpty();
    assertThat(JobText.read("No jobs in the system\n")).isEmpty();
  }
}
