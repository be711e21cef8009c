package dev.nexa.slurm.run.submit;

import static dev.nexa.slurm.run.submit.CrashPoint.CLIENT_ANSWERED;
import static dev.nexa.slurm.run.submit.CrashPoint.CLIENT_RECORDED;
import static dev.nexa.slurm.run.submit.CrashPoint.CLIENT_STARTED;
import static dev.nexa.slurm.run.submit.CrashPoint.FINAL_COST_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.FINAL_MANIFEST_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.FINISHED_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.INTENT_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.LEDGER_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.LOOKED_UP;
import static dev.nexa.slurm.run.submit.CrashPoint.MANIFEST_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.RECEIPT_WRITTEN;
import static dev.nexa.slurm.run.submit.CrashPoint.RUN_CLAIMED;
import static dev.nexa.slurm.run.submit.CrashPoint.RUN_LOCKED;
import static dev.nexa.slurm.run.submit.CrashPoint.RUN_NAMED;
import static dev.nexa.slurm.run.submit.CrashPoint.RUN_STAGED;
import static dev.nexa.slurm.run.submit.CrashPoint.SUBMISSION_CLOSED;
import static dev.nexa.slurm.run.submit.CrashPoint.SUBMISSION_SHUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Kills our processes with SIGKILL at every crash point, on the real Slurm of dev/cluster, and lets
 * its database judge: never two jobs for one submission, never a job without a run, never a
 * vanished job unnoticed. {@code dev/full kills} does it 200 times, {@code -Dkills=N} as often as
 * one likes.
 */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Execution(ExecutionMode.SAME_THREAD)
class KillSuiteTest {
  private static final int KILLS = SuiteSize.of("kills", 20, 200);
  private static final int AT_ONCE = 4;

  /** From this many kills on, each point must have had its five. */
  private static final int MANY = 200;

  /** One round passes every point; those that must wait longest begin. */
  private static final List<List<CrashPoint>> ROUND =
      List.of(
          List.of(INTENT_WRITTEN, SUBMISSION_SHUT, CLIENT_RECORDED),
          List.of(INTENT_WRITTEN, SUBMISSION_CLOSED, RECEIPT_WRITTEN),
          List.of(CLIENT_STARTED, LOOKED_UP),
          List.of(CLIENT_RECORDED, FINAL_COST_WRITTEN),
          List.of(CLIENT_ANSWERED, FINAL_MANIFEST_WRITTEN),
          List.of(RECEIPT_WRITTEN, LEDGER_WRITTEN),
          List.of(MANIFEST_WRITTEN, FINISHED_WRITTEN),
          List.of(RUN_NAMED),
          List.of(RUN_CLAIMED),
          List.of(RUN_LOCKED),
          List.of(RUN_STAGED),
          List.of(INTENT_WRITTEN, INTENT_WRITTEN, CLIENT_ANSWERED),
          List.of(
              RECEIPT_WRITTEN,
              LOOKED_UP,
              FINAL_COST_WRITTEN,
              FINAL_MANIFEST_WRITTEN,
              LEDGER_WRITTEN,
              FINISHED_WRITTEN),
          List.of(INTENT_WRITTEN, CLIENT_STARTED, MANIFEST_WRITTEN),
          List.of(RUN_STAGED, FINAL_COST_WRITTEN, FINAL_MANIFEST_WRITTEN, FINISHED_WRITTEN),
          List.of(RUN_NAMED, FINISHED_WRITTEN),
          List.of(RUN_CLAIMED),
          List.of(RUN_LOCKED, FINISHED_WRITTEN));

  private final Map<CrashPoint, Integer> kills =
      Collections.synchronizedMap(new EnumMap<>(CrashPoint.class));

  @Test
  void whateverDiesWhenThereIsOneJob(@TempDir Path folder) throws Exception {
    assumeTrue(Cluster.isOurs(), "slurm_acct_db can only be read as root");
    String suite = "k" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    Instant began = Instant.now();
    List<KillTrial> trials = trials(folder, suite);
    ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Future<KillTrial>> running = new ArrayList<>();
      for (KillTrial trial : trials) {
        Callable<KillTrial> whole =
            () -> {
              trial.run(point -> kills.merge(point, 1, Integer::sum));
              return trial;
            };
        running.add(workers.submit(whole));
      }
      SoftAssertions all = new SoftAssertions();
      for (Future<KillTrial> trial : running) {
        all.assertThatCode(trial::get).doesNotThrowAnyException();
      }
      all.assertAll();
    } finally {
      workers.shutdownNow();
    }
    List<Cluster.Job> jobs = Cluster.endedJobs(suite, 1);
    for (KillTrial trial : trials) {
      trial.judge(jobs.stream().filter(job -> job.name().startsWith(trial.stage() + "_")).toList());
    }
    int all = kills.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf(
        "kill suite: %d kills in %d workspaces, %d jobs in slurm_acct_db, %d s%nkill suite: %s%n",
        all, trials.size(), jobs.size(), Duration.between(began, Instant.now()).toSeconds(), kills);
    assertThat(all).isGreaterThanOrEqualTo(KILLS);
    for (CrashPoint point : CrashPoint.values()) {
      if (point.name().startsWith("PIPELINE_")) {
        continue; // PipelineKillTest kills there.
      }
      assertThat(kills.getOrDefault(point, 0))
          .as("kills at %s", point)
          .isGreaterThanOrEqualTo(KILLS >= MANY ? 5 : 1);
    }
  }

  private static List<KillTrial> trials(Path folder, String suite) {
    List<KillTrial> trials = new ArrayList<>();
    // A planned death may not come to pass: the job was confirmed before that point was reached.
    int plannedAtLeast = KILLS + KILLS / 10;
    for (int planned = 0; planned < plannedAtLeast; ) {
      int n = trials.size();
      List<CrashPoint> deaths = ROUND.get(n % ROUND.size());
      trials.add(new KillTrial(folder.resolve("w" + n), suite + "-" + n, deaths));
      planned += deaths.size();
    }
    return trials;
  }
}
