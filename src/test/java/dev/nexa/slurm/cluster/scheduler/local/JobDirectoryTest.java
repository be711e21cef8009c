package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobDirectoryTest {
  /** job.json as it was written until November 26, with keys that nobody reads any more. */
  private static final String JOB =
      """
      {"name": "data_x.abc", "script": "job.sbatch", "arguments": ["/w/runs/x/submissions/k"],
       "output": "/w/runs/x/logs/%A_%a.out", "comment": "", "directory": "/w/runs/x",
       "array": "0-2%1", "dependency": "", "user": "ann", "uid": 1000, "gid": 1000, "host": "box",
       "umask": "0022", "processors": 4, "submitted": 1000, "kill_wait_millis": 30000,
       "minute_millis": 60000, "environment": {"PATH": "/usr/bin"}}
      """;

  private static final String EVENTS =
      """
      {"at":1001,"task":0,"event":"START","raw":13}
      {"at":1005,"task":0,"event":"END","state":"COMPLETED","exit":"0:0","again":false}
      {"at":1005,"task":0,"event":"GONE"}
      {"at":1006,"task":1,"event":"START","raw":14}
      {"at":1008,"task":1,"event":"END","state":"REQUEUED","exit":"0:0","again":true}
      """;

  /** What an earlier version has run is not run again, and its rows stay. */
  @Test
  void readsWhatAnEarlierVersionWrote(@TempDir Path folder) throws IOException {
    Path job = Files.createDirectory(folder.resolve("12"));
    Files.writeString(job.resolve("job.json"), JOB);
    Files.writeString(
        job.resolve("slurm_script"), "#!/bin/bash\n#SBATCH --gres=gpu:1\n#SBATCH --mem=1G\ntrue\n");
    Files.writeString(job.resolve("events.jsonl"), EVENTS + "{\"at\":1009,\"ta");

    JobHistory history = JobDirectory.at(job).history();

    assertThat(history.last(Attempt::pending)).extracting(Attempt::task).containsExactly(2);
    assertThat(history.last(Attempt::ending)).extracting(Attempt::task).containsExactly(1);
    assertThat(history.rows(0, 1010))
        .extracting(AccountingRecord::rawState)
        .containsExactly("COMPLETED", "REQUEUED", "PENDING");
  }

  @Test
  void aLineThatWasCutShortIsRemovedBeforeTheNext(@TempDir Path folder) throws IOException {
    Path job = Files.createDirectory(folder.resolve("12"));
    Files.writeString(job.resolve("job.json"), JOB);
    Files.writeString(job.resolve("slurm_script"), "#!/bin/bash\ntrue\n");
    Files.writeString(job.resolve("events.jsonl"), EVENTS + "{\"at\":1009,\"ta");
    JobDirectory directory = JobDirectory.at(job);

    directory.cutTornTail();
    directory.record(directory.history(), JobEvent.gone(1009, 1));

    assertThat(directory.history().last(Attempt::pending))
        .extracting(Attempt::task)
        .containsExactly(1, 2);
  }
}
