package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A real slurmctld that hangs or dies, and a slurmdbd that is down. */
@Tag("slurm")
@Tag("stops-slurm")
@ResourceLock("slurm")
@Execution(ExecutionMode.SAME_THREAD)
class SlurmFaultTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** How often an acknowledged job may survive the death of its controller before we give up. */
  private static final int ATTEMPTS = 6;

  private final String suite = "f" + Long.toString(System.currentTimeMillis(), 36);
  @TempDir private Path folder;
  private int workspaces;

  @BeforeEach
  void needsRoot() {
    assumeTrue(Cluster.isOurs(), "a controller can only be frozen and killed by root");
  }

  @AfterEach
  void makeWhole() {
    Cluster.dev("up");
  }

  /**
   * While slurmctld hangs, one sbatch times out; one lives on after its submitter was killed; and
   * of one nobody knows the pid, while a reconcile waits for the controller's first answer.
   */
  @Test
  void aFrozenControllerMakesEachJobOnce() throws Exception {
    TrialWorkspace timesOut = workspace();
    TrialWorkspace livesOn = workspace();
    TrialWorkspace nobodyKnows = workspace();
    CompletableFuture<Void> waiting;
    Cluster.dev("ctld", "freeze");
    try {
      submitAndDie(nobodyKnows, CrashPoint.CLIENT_STARTED);
      SubmitAnswer answer = submit(timesOut);
      assertThat(answer).isInstanceOf(SubmitAnswer.Unknown.class);
      assertThat(timesOut.manifest().text("state")).isEqualTo("unknown");
      submitAndDie(livesOn, CrashPoint.CLIENT_RECORDED);
      assertThat(livesOn.last().client().orElseThrow().alive()).contains(true);
      waiting = CompletableFuture.runAsync(() -> reconcileOnce(nobodyKnows));
      Thread.sleep(500);
    } finally {
      Cluster.dev("ctld", "thaw");
    }
    waiting.get();
    for (TrialWorkspace workspace : List.of(timesOut, livesOn, nobodyKnows)) {
      heal(workspace);
      assertThat(workspace.state().submissions()).hasSize(1);
      assertThat(workspace.worked()).hasSize(1);
      assertThat(began(workspace)).hasSize(1);
    }
  }

  /** slurmctld saves up to 5 s late: what it acknowledged before a kill -9 may never have been. */
  @Test
  void anAcknowledgedJobThatVanishesIsMadeAgain() throws Exception {
    boolean lost = false;
    for (int attempt = 0; attempt < ATTEMPTS && !lost; attempt++) {
      TrialWorkspace workspace = workspace("partition: cpu");
      // A job that waits is lost without a trace; the partition is up again after the restart.
      scontrol("update", "PartitionName=cpu", "State=DOWN");
      SubmitAnswer answer = submit(workspace);
      Cluster.dev("ctld", "kill");
      Cluster.dev("ctld", "start");
      assertThat(answer).isInstanceOf(SubmitAnswer.Submitted.class);
      heal(workspace);
      List<Submission> submissions = workspace.state().submissions();
      lost = submissions.size() > 1;
      assertThat(workspace.worked()).hasSize(1);
      assertThat(began(workspace)).hasSize(1);
      assertThat(submissions.get(submissions.size() - 1).phase()).isEqualTo(Phase.CONFIRMED);
      if (lost) {
        assertThat(submissions.get(0).message()).contains("vanished");
        assertThat(began(workspace).get(0).name()).isEqualTo(submissions.get(1).key());
        assertThat(workspace.worked().get(0)).endsWith(" " + submissions.get(1).jobId().get());
      }
    }
    assertThat(lost).as("no acknowledged job was lost in %s attempts", ATTEMPTS).isTrue();
  }

  /**
   * The same of a job that began at once, as on an idle cluster: slurmd goes on with it until the
   * new controller ends the orphan, and its accounting row says RUNNING for ever. Nobody knows how
   * far it came, so it is not made again.
   */
  @Test
  void anAcknowledgedJobThatBeganAndVanishesIsNotDoneAgain() throws Exception {
    boolean lost = false;
    for (int attempt = 0; attempt < ATTEMPTS && !lost; attempt++) {
      TrialWorkspace workspace = workspace().lasting(12);
      // Having just saved, slurmctld takes its time before it saves again.
      String other = hold();
      Thread.sleep(300);
      submit(workspace);
      awaitWork(workspace);
      // Time for accounting to hear of the start.
      Thread.sleep(1500);
      Cluster.dev("ctld", "kill");
      Cluster.dev("ctld", "start");
      Instant deadline = Instant.now().plus(PATIENCE);
      while (!workspace.workspace().openRuns().isEmpty() && !lost) {
        assertThat(Instant.now()).as("%s", workspace.state()).isBefore(deadline);
        reconcileOnce(workspace);
        lost = workspace.state().submissions().get(0).missed().isPresent();
        Thread.sleep(300);
      }
      Cluster.run(List.of("scancel", other));
      if (lost) {
        // The settle window is over long before.
        Thread.sleep(5000);
        reconcileOnce(workspace);
        assertThat(workspace.manifest().text("state")).isEqualTo("unknown");
      }
      assertThat(workspace.state().submissions()).hasSize(1);
      assertThat(workspace.worked()).hasSize(1);
    }
    assertThat(lost).as("no job that had begun was lost in %s attempts", ATTEMPTS).isTrue();
  }

  @Test
  void withoutSlurmdbdNothingChangesAndItSaysSo() throws Exception {
    TrialWorkspace before = workspace();
    TrialWorkspace during = workspace();
    submit(before);
    Cluster.dev("dbd", "stop");
    try {
      submit(during);
      awaitWork(before);
      awaitWork(during);
      for (TrialWorkspace workspace : List.of(before, during)) {
        Map<String, String> bytes = workspace.bytes();
        StringWriter said = new StringWriter();
        String[] args = {"reconcile", "--workspace", workspace.root().toString()};
        PrintWriter out = new PrintWriter(said);
        assertThat(Main.run(args, System.getenv(), out, out)).isEqualTo(4);
        assertThat(said.toString()).contains("sacct failed").contains("nothing was changed");
        assertThat(workspace.bytes()).isEqualTo(bytes);
      }
    } finally {
      Cluster.dev("dbd", "start");
    }
    for (TrialWorkspace workspace : List.of(before, during)) {
      heal(workspace);
      assertThat(workspace.state().submissions()).hasSize(1);
      assertThat(workspace.worked()).hasSize(1);
      assertThat(began(workspace)).hasSize(1);
    }
  }

  /** A script that lost its end on the disk: Slurm takes it, and it does nothing. */
  @Test
  void halfAScriptDoesNothing() throws Exception {
    TrialWorkspace workspace = workspace();
    submit(workspace);
    heal(workspace);
    byte[] script = Files.readAllBytes(workspace.run().script());
    List<String> names = new ArrayList<>();
    for (int part = 1; part <= 8; part++) {
      String name = suite + "-half-" + part;
      Path half = workspace.root().resolve(name);
      Files.write(
          half, Arrays.copyOf(script, part < 8 ? script.length * part / 8 : script.length - 6));
      Path submission = workspace.run().path().resolve("submissions").resolve(name);
      Files.createDirectories(submission.resolve("claims"));
      Files.writeString(submission.resolve("offset"), "0\n");
      names.add(name);
      sbatch(name, half, submission);
    }
    List<Cluster.Job> jobs = Cluster.endedJobs(suite + "-half-", names.size());
    assertThat(jobs).extracting(Cluster.Job::name).containsExactlyInAnyOrderElementsOf(names);
    assertThat(workspace.worked()).hasSize(1);
    for (String name : names) {
      Path submission = workspace.run().path().resolve("submissions").resolve(name);
      assertThat(submission.resolve("claims").toFile().list()).as(name).isEmpty();
    }
  }

  // --- helpers
  // -------------------------------------------------------------------------------------

  private TrialWorkspace workspace(String... resources) {
    String stage = suite + "-" + workspaces++;
    return new TrialWorkspace(folder.resolve(stage), stage, 3, resources);
  }

  private static SubmitAnswer submit(TrialWorkspace workspace) {
    return new SubmitRun(workspace.context(System.getenv(), CrashPoint.NONE))
        .submit(workspace.request(), Optional.empty(), Optional.empty())
        .answer();
  }

  private static void submitAndDie(TrialWorkspace workspace, CrashPoint point) throws Exception {
    try (Victim victim = Victim.start(workspace.root(), "submit", point, 1)) {
      assertThat(victim.stopped()).isTrue();
      victim.kill();
    }
  }

  private static void reconcileOnce(TrialWorkspace workspace) {
    try {
      new ReconcileRuns(workspace.context(System.getenv(), CrashPoint.NONE)).reconcile();
    } catch (SchedulerUnavailable outage) {
      System.err.println(outage.getMessage());
    }
  }

  private static void heal(TrialWorkspace workspace) throws InterruptedException {
    assertThat(healed(workspace)).as("%s", workspace.manifest()).isEqualTo("completed");
  }

  /** Reconciles until the run is over, and returns its status. */
  private static String healed(TrialWorkspace workspace) throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!workspace.workspace().openRuns().isEmpty()) {
      assertThat(Instant.now()).as("%s", workspace.state()).isBefore(deadline);
      reconcileOnce(workspace);
      Thread.sleep(300);
    }
    assertThat(workspace.litter()).isEmpty();
    return workspace.manifest().text("status");
  }

  private static void awaitWork(TrialWorkspace workspace) throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (workspace.worked().isEmpty()) {
      assertThat(Instant.now()).isBefore(deadline);
      Thread.sleep(200);
    }
  }

  /** The workspace's jobs that began, in Slurm's own records. */
  private static List<Cluster.Job> began(TrialWorkspace workspace) {
    String run = workspace.run().id().value();
    return Cluster.jobs(run.substring(0, run.indexOf('_'))).stream()
        .filter(job -> job.name().startsWith(run))
        .filter(job -> job.started() > 0)
        .toList();
  }

  private static void scontrol(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("scontrol"));
    argv.addAll(Arrays.asList(arguments));
    Cluster.run(argv);
  }

  /** A job that waits for ever; its id. */
  private static String hold() {
    return Cluster.run(List.of("sbatch", "--parsable", "--hold", "--wrap=true")).strip();
  }

  private static void sbatch(String name, Path script, Path submission) throws IOException {
    Path run = submission.getParent().getParent();
    // From the run's folder, where it would also work without its argument.
    Cluster.run(
        List.of(
            "sbatch",
            "--job-name=" + name,
            "--output=" + submission.resolve("log"),
            "--time=1",
            "--mem=50",
            script.toString(),
            submission.toString()),
        run);
  }
}
