package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One run in a workspace of its own, whose processes are killed one after the other: the submitter
 * first, then those who heal. In the end it must be as if nothing had happened.
 */
final class KillTrial {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /**
   * Short, so that a suite ends; shorter than Slurm's own timeouts, so only safe without faults.
   */
  private static final int SETTLE_SECONDS = 3;

  private final String stage;
  private final List<CrashPoint> deaths;
  private final TrialWorkspace workspace;
  private final Map<Path, String> finalFiles = new TreeMap<>();

  /**
   * A trial.
   *
   * @param deaths where the submitter is killed, then where each healer is
   */
  KillTrial(Path root, String stage, List<CrashPoint> deaths) {
    this.stage = stage;
    this.deaths = deaths;
    this.workspace = new TrialWorkspace(root, stage, SETTLE_SECONDS);
  }

  /**
   * Submits, kills, heals and looks.
   *
   * @param killed told of each real kill
   */
  void run(Consumer<CrashPoint> killed) throws Exception {
    String command = "submit";
    for (CrashPoint point : deaths) {
      // Every third healer gets further before it dies.
      int nth = point == CrashPoint.LOOKED_UP && stage.hashCode() % 3 == 0 ? 2 : 1;
      try (Victim victim = Victim.start(workspace.root(), command, point, nth)) {
        if (victim.stopped()) {
          theOthersLeaveItAlone(point);
          rememberFinalFiles(point);
          victim.kill();
          killed.accept(point);
        }
      }
      command = "heal";
    }
    CompletableFuture<Void> other = CompletableFuture.runAsync(() -> heal(900));
    heal(600);
    other.get();
    looksAsIfNothingHadHappened();
  }

  /** A reconcile beside a process that stands inside the run. */
  private void theOthersLeaveItAlone(CrashPoint point) {
    Map<String, String> before = workspace.bytes();
    try {
      ReconcileRuns.Pass pass = reconcile();
      assertThat(pass.runsChanged()).as("%s %s", stage, point).isZero();
    } catch (SchedulerUnavailable outage) {
      // Then it changed nothing either.
    }
    assertThat(workspace.bytes()).as("%s %s", stage, point).isEqualTo(before);
  }

  /** What was written as final stays, whoever writes it again. */
  private void rememberFinalFiles(CrashPoint point) {
    if (point.compareTo(CrashPoint.FINAL_MANIFEST_WRITTEN) >= 0) {
      remember(workspace.run().manifest());
    }
    if (point.compareTo(CrashPoint.FINAL_COST_WRITTEN) >= 0) {
      remember(workspace.run().cost());
    }
  }

  private void remember(Path file) {
    if (Files.exists(file)) {
      finalFiles.putIfAbsent(file, DurableFiles.read(file));
    }
  }

  private ReconcileRuns.Pass reconcile() {
    return new ReconcileRuns(workspace.context(System.getenv(), CrashPoint.NONE)).reconcile();
  }

  private void heal(long pauseMillis) {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!workspace.workspace().openRuns().isEmpty()) {
      assertThat(Instant.now()).as("%s: %s", stage, workspace.state()).isBefore(deadline);
      try {
        reconcile();
        Thread.sleep(pauseMillis);
      } catch (SchedulerUnavailable outage) {
        System.err.println(stage + ": " + outage.getMessage());
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
    }
  }

  private void looksAsIfNothingHadHappened() {
    CrashPoint first = deaths.get(0);
    RunFolder run = workspace.run();
    workspace.anHourLater();
    reconcile();
    assertThat(workspace.litter()).as(stage).isEmpty();
    boolean submitted = first.compareTo(CrashPoint.RUN_STAGED) > 0;
    String status = workspace.manifest().text("status");
    assertThat(status).as(stage).isEqualTo(submitted ? "completed" : "failed");
    if (!submitted) {
      assertThat(workspace.manifest().text("state")).isEqualTo("not_submitted");
    }
    // Without a plan there is no price book to say in whose money nothing was spent.
    assertThat(Files.exists(run.cost()))
        .as(stage)
        .isEqualTo(first.compareTo(CrashPoint.RUN_STAGED) >= 0);
    assertThat(workspace.worked()).as(stage).hasSize(submitted ? 1 : 0);
    assertThat(ledgerLines()).as(stage).isEqualTo(submitted ? 1 : 0);
    assertThat(workspace.state().finished()).isTrue();
    finalFiles.forEach(
        (file, text) -> assertThat(DurableFiles.read(file)).as("%s", file).isEqualTo(text));
    Map<String, String> before = workspace.bytes();
    reconcile();
    assertThat(workspace.bytes()).as(stage).isEqualTo(before);
  }

  private long ledgerLines() {
    return workspace.bytes().entrySet().stream()
        .filter(file -> file.getKey().startsWith("runs/ledger-"))
        .mapToLong(file -> file.getValue().lines().count())
        .sum();
  }

  /**
   * Holds Slurm's own records against the journal.
   *
   * @param jobs those whose name begins with this trial's stage
   */
  void judge(List<Cluster.Job> jobs) {
    RunState state = workspace.state();
    Map<String, Submission> byKey = new TreeMap<>();
    state.submissions().forEach(submission -> byKey.put(submission.key(), submission));
    Map<String, Long> jobsOfKey = new TreeMap<>();
    for (Cluster.Job job : jobs) {
      assertThat(byKey).as("a job without a run: %s", job).containsKey(job.name());
      assertThat(job.ended()).as("%s", job).isPositive();
      if (!job.neverBegan()) {
        jobsOfKey.merge(job.name(), 1L, Long::sum);
      }
    }
    jobsOfKey.forEach(
        (key, count) -> assertThat(count).as("jobs of %s: %s", key, jobs).isEqualTo(1));
    for (Submission submission : byKey.values()) {
      boolean known =
          jobs.stream().anyMatch(job -> submission.jobId().equals(java.util.Optional.of(job.id())));
      boolean settled = submission.phase() == Submission.Phase.CONFIRMED;
      assertThat(known).as("%s: %s", submission, jobs).isEqualTo(settled);
      assertThat(settled || submission.phase() == Submission.Phase.CLOSED)
          .as("%s", submission)
          .isTrue();
    }
    boolean submitted = deaths.get(0).compareTo(CrashPoint.RUN_STAGED) > 0;
    assertThat(jobsOfKey).as("%s: %s", stage, jobs).hasSize(submitted ? 1 : 0);
  }

  String stage() {
    return stage;
  }
}
