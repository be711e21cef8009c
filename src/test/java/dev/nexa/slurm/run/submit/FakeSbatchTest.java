package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Submission.Phase;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Slurm's clients may say, and what must come of it: one job, or none and no doubt left. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class FakeSbatchTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String TIMED_OUT =
      "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2;"
          + " exit 1";

  private FakeSlurm slurm;
  private TrialWorkspace workspace;

  @BeforeEach
  void makeThem(@TempDir Path folder) {
    slurm = new FakeSlurm(folder.resolve("slurm"));
    workspace = new TrialWorkspace(folder.resolve("work"), "fake", 1);
  }

  // --- what sbatch says
  // ---------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "accept; echo \"$id\"",
        "accept; echo \"$id;nexa\"",
        "accept; echo Welcome to the cluster; echo; echo \"$id\"",
        "accept; echo 'maintenance on Monday' >&2; echo \"$id\"; echo",
      })
  void anIdOnTheLastLineIsAJob(String sbatch) {
    slurm.sbatch(sbatch);
    assertThat(submit()).isZero();
    assertThat(workspace.last().phase()).isEqualTo(Phase.SUBMITTED);
    finishes();
    assertThat(workspace.last().jobId()).contains(101L);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "accept; echo submitted, thank you",
        "accept; echo \"Submitted batch job $id\"",
        "accept; echo",
        "accept; echo -1",
        "accept; " + TIMED_OUT,
        // A validation message with an id printed is a contradiction: nobody may call it refused.
        "accept; echo \"$id\"; echo 'Invalid qos specification' >&2; exit 1",
        "accept; echo 'Invalid qos specification' >&2; exit 2",
        "accept; kill -9 $$",
      })
  void anythingElseIsUnknownAndIsFoundByItsName(String sbatch) {
    slurm.sbatch(sbatch);
    assertThat(submit()).isEqualTo(4);
    assertThat(workspace.last().phase()).isEqualTo(Phase.UNKNOWN);
    assertThat(workspace.manifest().text("state")).isEqualTo("unknown");
    finishes();
    assertThat(workspace.last().jobId()).contains(101L);
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @Test
  void aListedValidationMessageIsRefusedForGood() {
    slurm.sbatch(
        "echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1");
    assertThat(submit()).isEqualTo(4);
    assertThat(workspace.manifest().text("state")).isEqualTo("refused");
    assertThat(workspace.manifest().text("status")).isEqualTo("failed");
    assertThat(workspace.workspace().openRuns()).isEmpty();
    reconcile();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  /** A wrapper made a job and said that it was refused; squeue does not list the job yet. */
  @Test
  void aRefusalIsUnknownIfAJobHasBegunToWork() {
    slurm.sbatch(
        "accept; : >\"$state/queue\"; ln -s 101 \"$(find '"
            + workspace.root()
            + "' -path \"*/$key/claims\")/0\";"
            + " echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2;"
            + " exit 1");
    submit();
    assertThat(workspace.last().phase()).isEqualTo(Phase.UNKNOWN);
    slurm.queue(101, workspace.last().key());
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @Test
  void anSbatchThatCanNotBeStartedMadeNoJob() throws IOException {
    slurm.instead("../bin/sbatch", "#!/nonexistent/interpreter");
    assertThat(submit()).isEqualTo(4);
    assertThat(workspace.manifest().text("state")).isEqualTo("refused");
  }

  @Test
  void anUnknownSubmissionWithoutAJobIsMadeAgainUnderANewKey() {
    slurm.sbatch("echo 'Unable to contact slurm controller' >&2; exit 1");
    assertThat(submit()).isEqualTo(4);
    slurm.sbatch("accept; echo \"$id\"");
    reconcileUntil(() -> slurm.calls() == 2);
    assertThat(workspace.state().submissions()).hasSize(2);
    assertThat(workspace.state().submissions().get(0).phase()).isEqualTo(Phase.CLOSED);
    finishes();
    assertThat(slurm.calls()).isEqualTo(2);
  }

  @Test
  void anSbatchThatHangsIsEndedAndLookedFor() {
    RunFolder run = stagedRun();
    slurm.sbatch("accept; sleep 600");
    SlurmScheduler impatient =
        new SlurmScheduler(
            new CommandRunner(),
            slurm.environment(),
            workspace.root(),
            new ClientTimeouts(Duration.ofSeconds(1), PATIENCE),
            Optional::empty);
    Instant before = Instant.now();
    SubmitAnswer answer =
        new SubmitTasks(impatient, CrashPoint.NONE, new Interruption())
            .submit(
                run,
                new ArrayShape(1, 1001, Optional.empty(), 1),
                IndexRange.upTo(1),
                1,
                "",
                "",
                Optional.empty(),
                () -> {})
            .get(0);
    assertThat(answer).isInstanceOf(SubmitAnswer.Unknown.class);
    assertThat(Duration.between(before, Instant.now())).isLessThan(PATIENCE);
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @Test
  void whileTheClientLivesNothingIsDecided() {
    slurm.sbatch("sleep 4; accept; echo \"$id\"");
    dieAt(CrashPoint.CLIENT_RECORDED);
    Instant before = Instant.now();
    // Longer than the settle window of one second.
    while (Duration.between(before, Instant.now()).toMillis() < 2500) {
      reconcile();
      assertThat(workspace.last().phase()).isEqualTo(Phase.INTENDED);
    }
    reconcileUntil(() -> workspace.last().phase() != Phase.INTENDED);
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  // --- what squeue and sacct say
  // ------------------------------------------------------------------

  @Test
  void aFailingSqueueLeavesItUnknown() {
    slurm.sbatch("accept; " + TIMED_OUT);
    submit();
    slurm.instead("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
    nothingChanges();
    slurm.asUsual("squeue");
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  /** A wrapper made a job and said that it was refused. Half of the job's line is no answer. */
  @Test
  void aLineOfSqueueThatCannotBeReadLeavesItUnknown() {
    slurm.sbatch(
        "accept; echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1");
    slurm.instead("squeue", "head -c 20 \"$state/queue\"");
    submit();
    assertThat(workspace.last().phase()).isEqualTo(Phase.UNKNOWN);
    nothingChanges();
    slurm.asUsual("squeue");
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // 22.05's sacct ends with 0 where slurmdbd is down.
        "echo 'sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection' >&2",
        "rows | head -c 40",
        "rows; exit 1",
        "rows; printf '101\\037101_0\\037fa'",
        "rows; kill -9 $$",
      })
  void halfAnAnswerOfSacctChangesNothing(String sacct) {
    submit();
    slurm.finishAll();
    slurm.instead("sacct", sacct);
    nothingChanges();
    slurm.asUsual("sacct");
    finishes();
  }

  @Test
  void ofTwoJobsOfOneNameTheLowestStaysAndTheOtherIsCancelled() {
    slurm.sbatch("accept; accept; exit 1");
    submit();
    reconcileUntil(() -> !workspace.last().unresolved());
    assertThat(workspace.last().jobId()).contains(101L);
    assertThat(workspace.last().duplicates()).containsExactly(102L);
    assertThat(slurm.queued()).containsExactly(101L);
    finishes();
    assertThat(workspace.manifest().objects("submissions").get(0).members().get("duplicates"))
        .isNotNull();
  }

  @Test
  void aJobOfAnotherNameUnderTheSameIdIsNotOurs() {
    slurm.sbatch("accept somebody_else; echo \"$id\"");
    submit();
    reconcileUntil(() -> slurm.calls() == 2);
    assertThat(slurm.cancelled()).isEmpty();
    assertThat(slurm.queued()).contains(101L);
    assertThat(workspace.state().submissions().get(0).message()).contains("vanished");
  }

  @Test
  void aPendingRowWithoutSqueueIsAVanishedJob() {
    submit();
    slurm.addRow(101, workspace.last().key(), "PENDING");
    slurm.loseAll();
    reconcileUntil(() -> slurm.calls() == 2);
    assertThat(workspace.state().submissions().get(0).message()).contains("vanished");
    finishes();
    assertThat(slurm.calls()).isEqualTo(2);
  }

  /** squeue was asked before the deadline, and the job came between its answer and the deadline. */
  @Test
  void anAnswerFromBeforeTheDeadlineIsNotBelievedAfterIt() throws InterruptedException {
    slurm.sbatch("exit 1");
    submit();
    reconcileUntil(() -> workspace.last().clientGone().isPresent());
    Thread.sleep(500);
    String key = workspace.last().key();
    slurm.instead("sacct", "sleep 1.5; rows");
    Thread late =
        new Thread(
            () -> {
              pause(300);
              slurm.queue(150, key);
            });
    late.start();
    reconcile();
    late.join();
    slurm.asUsual("sacct");
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
    assertThat(workspace.last().jobId()).contains(150L);
  }

  /** The controller hung, and its first answer came before it worked off our sbatch's request. */
  @Test
  void withoutAClientToAskOneLookIsNotEnough() {
    slurm.sbatch("sleep 0.1; exit 1");
    dieAt(CrashPoint.CLIENT_STARTED);
    pause(3500);
    reconcile();
    assertThat(workspace.last().phase()).isEqualTo(Phase.INTENDED);
    slurm.queue(150, workspace.last().key());
    finishes();
    assertThat(slurm.calls()).isEqualTo(1);
    assertThat(workspace.last().jobId()).contains(150L);
  }

  /** It came after all, when another had been submitted in its place. */
  @Test
  void aJobOfAClosedSubmissionIsCancelledAndCouldNotWork() {
    slurm.sbatch("exit 1");
    submit();
    String closed = workspace.last().key();
    slurm.sbatch("accept; echo \"$id\"");
    reconcileUntil(() -> slurm.calls() == 2);
    slurm.queue(150, closed);
    reconcile();
    assertThat(slurm.cancelled()).containsExactly("--name=" + closed + " 150");
    assertThat(workspace.run().submission(closed).resolve("claims")).doesNotExist();
    finishes();
    assertThat(slurm.calls()).isEqualTo(2);
  }

  /** Short jobs that ran while slurmdbd was down: purged from squeue, and not yet in accounting. */
  @Test
  void aJobThatLeftItsResultIsNotMadeAgain() throws IOException {
    submit();
    String key = workspace.last().key();
    workspace.claim(key, 101);
    Files.writeString(workspace.run().submission(key).resolve("results/0.0.json"), "{}");
    slurm.loseAll();
    List<String> problems = List.of();
    for (int pass = 0; pass < 8; pass++) {
      pause(300);
      problems = reconcile().problems();
    }
    assertThat(slurm.calls()).isEqualTo(1);
    assertThat(workspace.last().phase()).isEqualTo(Phase.SUBMITTED);
    assertThat(String.join("\n", problems)).contains("it is not known how it ended");
    slurm.queue(101, key);
    finishes();
  }

  /**
   * It began at once, slurmctld died before it had saved that, and its row says RUNNING for ever.
   */
  @Test
  void aJobThatBeganAndVanishedIsNotMadeAgain() throws Exception {
    submit();
    String key = workspace.last().key();
    workspace.claim(key, 101);
    slurm.addRow(101, key, "RUNNING");
    slurm.loseAll();
    reconcileUntil(() -> workspace.last().missed().isPresent());
    // The settle window is a second.
    Thread.sleep(1500);
    reconcile();

    assertThat(workspace.manifest().text("state")).isEqualTo("unknown");
    assertThat(slurm.calls()).isEqualTo(1);
  }

  /** It started, and slurmctld lost it before its script had claimed the task. */
  @Test
  void aConfirmedJobThatStartedAndIsLostIsUnknownAndNotMadeAgain() {
    submit();
    slurm.queue(101, workspace.last().key());
    reconcileUntil(() -> workspace.last().phase() == Phase.CONFIRMED);
    slurm.addRow(101, workspace.last().key(), "RUNNING");
    slurm.loseAll();
    reconcileUntil(() -> workspace.last().missed().isPresent());
    reconcile();

    assertThat(workspace.manifest().text("state")).isEqualTo("unknown");
    assertThat(slurm.calls()).isEqualTo(1);
  }

  /** Confirmed by squeue, and then in no list: none of its tasks began, so it is made again. */
  @Test
  void aConfirmedJobThatNeverStartedAndIsLostIsMadeAgain() {
    submit();
    slurm.queue(101, workspace.last().key());
    reconcileUntil(() -> workspace.last().phase() == Phase.CONFIRMED);
    slurm.loseAll();
    reconcileUntil(() -> slurm.calls() == 2);

    assertThat(workspace.state().submissions().get(0).message()).contains("vanished");
    finishes();
  }

  /** Gone may mean finished and forgotten (MinJobAge); only the claim tells. */
  @Test
  void withoutAccountingOnlyWhatNeverBeganIsMadeAgain() throws IOException {
    slurm.keepNoAccounting();
    slurm.sbatch("exit 1");
    submit();
    reconcileUntil(() -> slurm.calls() == 2);
  }

  @Test
  void withoutAccountingWhoseWorkWasClaimedIsAdopted() throws IOException {
    slurm.keepNoAccounting();
    slurm.sbatch("exit 1");
    submit();
    workspace.claim(workspace.last().key(), 101);
    for (int pass = 0; pass < 8; pass++) {
      pause(300);
      reconcile();
    }
    assertThat(slurm.calls()).isEqualTo(1);
    assertThat(workspace.last().jobId()).contains(101L);
  }

  // --- what became of our own files
  // ----------------------------------------------------------------

  @Test
  void aTornTailIsCutAndSaid() throws IOException {
    slurm.sbatch("accept; echo \"$id\"");
    dieAt(CrashPoint.CLIENT_ANSWERED);
    byte[] torn =
        "{\"event\":\"submitted\",\"data\":{\"message\":\"\u00fc".getBytes(StandardCharsets.UTF_8);
    Path journal = workspace.run().path().resolve("journal.jsonl");
    // Cut in the middle of a character.
    Files.write(journal, Arrays.copyOf(torn, torn.length - 1), StandardOpenOption.APPEND);
    finishes();
    assertThat(workspace.run().journal().read())
        .filteredOn(event -> event.type() == Event.Type.TORN_TAIL)
        .hasSize(1);
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @Test
  void anEditedJournalIsRefusedAndHoldsUpNobodyElse() throws IOException {
    submit();
    RunFolder edited = workspace.run();
    Path journal = edited.path().resolve("journal.jsonl");
    String text = Files.readString(journal);
    Files.writeString(journal, text.replace("\"tasks\":\"0\"", "\"tasks\":\"1\""));
    assertThat(Files.readString(journal)).isNotEqualTo(text);
    submit();
    slurm.finishAll();
    List<String> problems = reconcile().problems();
    assertThat(String.join("\n", problems)).contains(journal + ":3: it does not follow");
    assertThat(workspace.workspace().openRuns()).containsExactly(edited.id());
  }

  @ParameterizedTest
  @ValueSource(strings = {"plan.json", "estimate.json", "journal.jsonl"})
  void aRunThatCanNotBeReadHoldsUpNobodyElse(String file) throws IOException {
    submit();
    RunFolder broken = workspace.run();
    Path path = broken.path().resolve(file);
    Files.delete(path);
    Files.writeString(path, "{\"half\n");
    submit();
    slurm.finishAll();
    List<String> problems = reconcile().problems();
    assertThat(String.join("\n", problems)).contains(broken.id().value());
    assertThat(workspace.workspace().openRuns()).containsExactly(broken.id());
  }

  /** A run's plan is there or not: half of one, of a submitter that died, would read as damage. */
  @Test
  void aFileThatCouldNotBeFinishedIsNotThere() throws IOException {
    Path file = workspace.root().resolve("plan.json");
    DurableFiles full =
        new DurableFiles(
            path -> {
              throw new IOException("no space left on device");
            });
    assertThatThrownBy(() -> full.create(file, new byte[] {'{'}, "r--------"))
        .hasMessageContaining("no space left");
    assertThat(file).doesNotExist();
    assertThat(workspace.root().toFile().list()).noneMatch(left -> left.endsWith(".tmp"));
  }

  /** To us their waiting job would look as if it had vanished. */
  @Test
  void anotherUsersRunIsLeftAlone() throws IOException {
    assumeTrue(Cluster.isOurs(), "only root can give a folder away");
    submit();
    slurm.loseAll();
    Files.setAttribute(workspace.run().path(), "unix:uid", 65534);
    Map<String, String> before = workspace.bytes();
    pause(1500);
    assertThat(reconcile().left()).isEqualTo(1);
    assertThat(workspace.bytes()).isEqualTo(before);
    assertThat(slurm.calls()).isEqualTo(1);
  }

  @Test
  void aDeadClientWhomNobodyWaitedForIsGone() throws Exception {
    Process parent = new ProcessBuilder("bash", "-c", "sleep 0.2 & exec sleep 60").start();
    try {
      ProcessHandle child;
      do {
        child = parent.children().findFirst().orElse(null);
      } while (child == null);
      ProcessIdentity client = ProcessIdentity.of(child);
      assertThat(client.alive()).contains(true);
      pause(600);
      // Java's own opinion, which ours must not be.
      assertThat(child.isAlive()).isTrue();
      assertThat(client.alive()).contains(false);
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void aFinishedRunIsNotTouchedAgain() {
    submit();
    slurm.finishAll();
    assertThatThrownBy(() -> reconcile(CrashPoint.FINISHED_WRITTEN)).isInstanceOf(Death.class);
    Map<String, String> before = workspace.bytes();
    // Accounting keeps rows only so long.
    slurm.instead("sacct", "true");
    reconcile();
    before.remove("runs/open/" + workspace.run().id());
    assertThat(workspace.bytes()).isEqualTo(before);
    assertThat(workspace.workspace().openRuns()).isEmpty();
  }

  // --- helpers
  // -------------------------------------------------------------------------------------

  /** Our process's death, as far as one process can play it. */
  private static final class Death extends Error {
    private static final long serialVersionUID = 1L;
  }

  private int submit() {
    StringWriter said = new StringWriter();
    String[] args = {
      "submit", workspace.root() + "/work.yaml", "--workspace", workspace.root().toString()
    };
    PrintWriter out = new PrintWriter(said);
    return Main.run(args, slurm.environment(), out, out);
  }

  private void dieAt(CrashPoint point) {
    assertThatThrownBy(
            () ->
                new SubmitRun(workspace.context(slurm.environment(), dying(point)))
                    .submit(workspace.request(), Optional.empty(), Optional.empty()))
        .isInstanceOf(Death.class);
  }

  private static Consumer<CrashPoint> dying(CrashPoint at) {
    return point -> {
      if (point == at) {
        throw new Death();
      }
    };
  }

  private RunFolder stagedRun() {
    dieAt(CrashPoint.RUN_STAGED);
    return workspace.run();
  }

  private ReconcileRuns.Pass reconcile() {
    return new ReconcileRuns(workspace.context(slurm.environment(), CrashPoint.NONE)).reconcile();
  }

  private void reconcile(CrashPoint dyingAt) {
    new ReconcileRuns(workspace.context(slurm.environment(), dying(dyingAt))).reconcile();
  }

  private void reconcileUntil(BooleanSupplier enough) {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!enough.getAsBoolean()) {
      assertThat(Instant.now()).as("in time: %s", workspace.state()).isBefore(deadline);
      reconcile();
      pause(100);
    }
  }

  private void nothingChanges() {
    Map<String, String> before = workspace.bytes();
    String slurmBefore = slurm.digest();
    for (int pass = 0; pass < 3; pass++) {
      assertThat(reconcile().outage()).isPresent();
      pause(400);
    }
    assertThat(workspace.bytes()).isEqualTo(before);
    assertThat(slurm.digest()).isEqualTo(slurmBefore);
  }

  /** The job is found, runs and ends well, and the run with it. */
  private void finishes() {
    reconcileUntil(() -> !workspace.last().unresolved());
    workspace.run().claimed(workspace.last().key()).forEach(workspace::noteDone);
    slurm.finishAll();
    reconcileUntil(() -> workspace.workspace().openRuns().isEmpty());
    assertThat(workspace.manifest().text("status")).isEqualTo("completed");
    assertThat(workspace.litter()).isEmpty();
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AssertionError(interrupted);
    }
  }
}
