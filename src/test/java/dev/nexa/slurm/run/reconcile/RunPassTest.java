package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run in reconcile's passes; its events are long past, so that no window is open any more. */
class RunPassTest extends RunPassFixture {
  @Test
  void aJobThatIsInTheQueueIsConfirmedAndTheManifestSaysWhereItStands() {
    submitted("created submitting submitted");
    scheduler.queue.addAll(Rows.queue("0 RUNNING; 1 PENDING"));

    assertThat(pass()).isTrue();

    assertThat(state().last()).map(Submission::phase).contains(Phase.CONFIRMED);
    assertThat(manifest().text("status")).isEqualTo("running");
    assertThat(manifest().object("tasks").object("states"))
        .hasToString("{\"pending\":1,\"running\":1}");
    assertThat(workspace.openRuns()).containsExactly(run.id());
  }

  /** A pipeline runs an earlier stage again, and the stage can then start after all. */
  @ParameterizedTest
  @ValueSource(strings = {"", "pipeline_20251101_120000"})
  void aRunThatCanNeverStartIsStuckUnlessItIsAStage(String of) {
    pipeline = Optional.of(of).filter(name -> !name.isEmpty());
    submitted("created submitting submitted");
    for (QueueEntry entry : Rows.queue("0 PENDING; 1 PENDING")) {
      scheduler.queue.add(
          new QueueEntry(
              entry.rawJobId(),
              entry.arrayJobId(),
              entry.task(),
              entry.state(),
              "DependencyNeverSatisfied",
              entry.start(),
              entry.end(),
              entry.name()));
    }
    RunPass pass = newPass();

    pass.reconcile(run, state(), TaskEvidence.gather(scheduler, List.of(state())), problems);

    if (of.isEmpty()) {
      assertThat(pass.stuck()).containsExactly(run.id());
      assertThat(problems).singleElement().asString().contains(run.id() + " will never start: ");
    } else {
      assertThat(pass.stuck()).isEmpty();
      assertThat(problems).isEmpty();
    }
  }

  @Test
  void aRunThatIsOverIsClosedWithManifestCostAndLedger() throws IOException {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-70"));

    assertThat(pass()).isTrue();

    assertThat(manifest().text("status")).isEqualTo("completed");
    assertThat(cost().decimal("total")).isPositive();
    assertThat(state().finished()).isTrue();
    assertThat(workspace.openRuns()).isEmpty();
    assertThat(Files.readString(workspace.runs().resolve("ledger-2025-11.jsonl")))
        .startsWith("{\"run_id\":\"" + run.id() + "\"");
    String line = Files.readAllLines(workspace.runs().resolve("ledger-2025-11.jsonl")).get(0);
    JsonObject json = Json.parseObject(line);
    Golden.check("reconcile/ledger-line.json", Json.pretty(json.with("crc32", "00000000")));
  }

  /** Of each task 690 s were reserved: 600 s, KillWait and a minute. */
  @Test
  void aRunThatCostMoreThanWasReservedIsAProblem() {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-700; 1 TIMEOUT 10-790"));
    pass();

    assertThat(problems)
        .singleElement()
        .asString()
        .startsWith(run.id() + " cost 0.82 USD, over its reservation of 0.77 USD: Slurm gave it");
    assertThat(cost().text("difference")).isEqualTo("0.05");
  }

  @Test
  void aSecondPassChangesNothingAndLeavesTheSameBytes() throws IOException {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 RUNNING 10-"));
    scheduler.queue.addAll(Rows.queue("1 RUNNING"));
    pass();
    Map<String, String> once = files();

    assertThat(pass()).isFalse();

    assertThat(files()).isEqualTo(once);
  }

  /** Rows.TRES has billing=4 for four CPUs, 8 GiB and two GPUs. */
  @ParameterizedTest
  @CsvSource({
    "'CPU=1.0', ''",
    "'', ''",
    "'CPU=1.0,Mem=0.75G', 'its weights make 10'",
    "'CPU=1.0,Mem=0.25G', ''",
    "'CPU=0.5,GRES/gpu=1', ''",
    "'CPU=1.000000001', ''",
    "'CPU=1.24', ''",
    "'CPU=0.9999999999', ''",
    "'CPU=0.99', 'its weights make 3'",
  })
  void whatSlurmBilledIsCheckedOnceWhenTheRunIsSettled(String billingWeights, String told) {
    submitted("created submitting submitted");
    weights.put("gpu", BillingWeights.parse(billingWeights));
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 RUNNING 10-"));
    scheduler.queue.addAll(Rows.queue("1 RUNNING"));
    pass();
    assertThat(problems).isEmpty();
    scheduler.queue.clear();
    scheduler.rows.clear();
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-70"));

    pass();

    if (told.isEmpty()) {
      assertThat(problems).isEmpty();
    } else {
      assertThat(problems).singleElement().asString().contains("Slurm billed 4", told);
    }
    assertThat(state().finished()).isTrue();
  }

  @Test
  void aPassOverAFinishedRunLeavesTheSameBytes() throws IOException {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 FAILED 10-70"));
    pass();
    Map<String, String> once = files();
    assertThat(state().finished()).isTrue();

    pass();

    assertThat(files()).isEqualTo(once);
  }

  /** A second attempt left its result, and slurmdbd has not heard of it yet. */
  @Test
  void aRunWaitsForRowsOfAttemptsThatLeftTheirResults() throws IOException {
    submitted("created submitting submitted");
    long ended = Duration.between(Rows.NOON, Instant.now()).toSeconds() - 60;
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-" + ended));
    Files.writeString(run.submission(Rows.KEY).resolve("results/0.0.json"), "{}");
    Files.writeString(run.submission(Rows.KEY).resolve("results/0.1.json"), "{}");

    pass();

    assertThat(manifest().text("status")).isEqualTo("running");
    assertThat(problems.get(0))
        .endsWith("began 2 attempts, accounting has 1; waiting for accounting");
    assertThat(state().finished()).isFalse();

    scheduler.rows.clear();
    long anHourAgo = ended - 3600;
    String row = "1 COMPLETED " + (anHourAgo - 60) + "-" + anHourAgo;
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; " + row));
    pass();

    assertThat(manifest().text("status")).isEqualTo("completed");
    assertThat(manifest().texts("disagreements"))
        .containsExactly("task 0 of " + Rows.KEY + " began 2 attempts, accounting has 1");
    assertThat(SchemaCheck.problems(schema("manifest"), Json.pretty(manifest()))).isEmpty();
  }

  /** A limit of ten minutes, and a row of more than a day: somebody raised it, or it is wrong. */
  @Test
  void anAttemptFarOverItsLimitWaitsUnlessItsOwnResultSaysSo() throws IOException {
    submitted("created submitting submitted");
    long now = Duration.between(Rows.NOON, Instant.now()).toSeconds();
    String rows = "0 COMPLETED 10-70; 1 COMPLETED " + (now - 200_000) + "-" + (now - 100);
    scheduler.rows.addAll(Rows.accounting(rows));

    pass();

    assertThat(state().finished()).isFalse();
    assertThat(problems)
        .anyMatch(
            line -> line.contains("job 100_1 took 199900 s by accounting, its limit is 600 s"));

    Files.writeString(
        run.submission(Rows.KEY).resolve("results/1.0.json"),
        "{\"task\":1,\"restart\":0,\"job_id\":102,\"array_job_id\":100,\"node\":\"n1\",\"started\":%d,\"ended\":%d,\"exit_code\":0,\"signal\":\"\"}"
            .formatted(
                Rows.NOON.getEpochSecond() + now - 199_990,
                Rows.NOON.getEpochSecond() + now - 110));
    pass();

    assertThat(state().finished()).isTrue();
  }

  /** It was killed outright, and left no result; the second half of sacct's answer is missing. */
  @Test
  void aRunWaitsForTheRowOfATaskThatClaimedItsWork() throws IOException {
    submitted("created submitting submitted confirmed");
    long ended = Duration.between(Rows.NOON, Instant.now()).toSeconds() - 300;
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED " + (ended - 60) + "-" + ended));
    Path claims = run.submission(Rows.KEY).resolve("claims");
    Files.createSymbolicLink(claims.resolve("1"), claims.getFileSystem().getPath("102"));

    pass();

    assertThat(problems.get(0))
        .endsWith("began 1 attempt, accounting has 0; waiting for accounting");
    assertThat(state().finished()).isFalse();
    scheduler.rows.addAll(Rows.accounting("1 TIMEOUT 10-70"));
    pass();
    assertThat(manifest().text("state")).isEqualTo("timeout");
  }

  /** The first attempt was killed outright: only the second one's result tells that it was. */
  @Test
  void aRunWaitsForTheRowOfAnAttemptBeforeTheOneThatLeftAResult() throws IOException {
    submitted("created submitting submitted");
    long ended = Duration.between(Rows.NOON, Instant.now()).toSeconds() - 300;
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-" + ended));
    Files.writeString(run.submission(Rows.KEY).resolve("results/0.1.json"), "{}");

    pass();

    assertThat(problems.get(0)).contains("task 0 of " + Rows.KEY + " began 2 attempts");
    assertThat(state().finished()).isFalse();
  }

  @Test
  void aRowThatIsToldTwiceCostsOnce() {
    submitted("created submitting submitted");
    String rows = "0 REQUEUED 10-40; 0 COMPLETED 50-110; 1 COMPLETED 10-70";
    scheduler.rows.addAll(Rows.accounting(rows + "; " + rows));

    pass();

    assertThat(cost().object("actual").objects("attempts")).hasSize(3);
    assertThat(cost().decimal("total")).isEqualByComparingTo("0.08");
  }

  @Test
  void whatIsYetToEndIsNotFinal() {
    submitted("created submitting submitted");
    long ended = Duration.between(Rows.NOON, Instant.now()).toSeconds() + 3600;
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-" + ended));

    pass();

    assertThat(problems.get(0)).contains("which is yet to come by this host's clock");
    assertThat(state().finished()).isFalse();
    scheduler.rows.clear();
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 COMPLETED 10-70"));
    pass();
    assertThat(state().finished()).isTrue();
  }

  /**
   * An array's task that was cancelled while it waited leaves no row; a queue may also be wrong.
   */
  @Test
  void aTaskOfWhichNothingTellsIsLookedForTwiceBeforeItCountsAsCancelled() throws Exception {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70"));

    pass();
    pass();

    assertThat(state().last().orElseThrow().missed()).isPresent();
    assertThat(manifest().text("status")).isEqualTo("running");

    Thread.sleep(1100); // the policy's settle window
    scheduler.queue.addAll(Rows.queue("1 PENDING"));
    pass();
    assertThat(manifest().text("status")).as("it was there after all").isEqualTo("running");

    scheduler.queue.clear();
    pass();
    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(manifest().object("tasks").object("states"))
        .hasToString("{\"completed\":1,\"cancelled\":1}");
  }

  /** An auditor sees both. */
  @Test
  void aRunThatIsRunAgainKeepsTheCostRecordThatWasFinal() {
    submitted("created submitting submitted");
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 10-70; 1 FAILED 10-70"));
    pass();
    String first = DurableFiles.read(run.cost());
    assertThat(cost().number("version")).isEqualTo(1);
    assertThat(cost().members()).doesNotContainKey("corrects");

    workspace.markOpen(run.id());
    String again = run.id() + ".again1";
    run.stageSubmission(again, IndexRange.of(1), 0);
    run.journal()
        .append(
            event("rerun", 100, again),
            event("submitting", 101, again),
            event("refused", 102, again));
    pass();
    pass();

    assertThat(DurableFiles.read(run.cost(1))).isEqualTo(first);
    assertThat(cost().number("version")).isEqualTo(2);
    assertThat(cost().text("corrects")).isEqualTo(Sha256.of(first));
    assertThat(state().timesFinished()).isEqualTo(2);
    assertThat(state().costDigest()).contains(Sha256.of(DurableFiles.read(run.cost())));
    assertThat(run.cost(2)).doesNotExist();
  }

  @Test
  void aJobThatVanishedIsSubmittedAgainUnderANewKeyAsOftenAsPolicySays() {
    submitted("created submitting submitted");

    assertThat(pass()).isTrue();

    assertThat(state().submissions())
        .extracting(Submission::phase)
        .containsExactly(Phase.CLOSED, Phase.SUBMITTED);
    assertThat(state().last()).map(Submission::jobId).contains(Optional.of(200L));
    assertThat(state().submissions().get(1).key())
        .startsWith(run.id() + ".")
        .isNotEqualTo(Rows.KEY);
    assertThat(problems)
        .containsExactly(
            run.id()
                + ": job 100 vanished: Slurm answered with its id and lost it; submitted again");
    assertThat(manifest().text("status")).isEqualTo("running");
  }

  /** It may be on a node that lost touch with the controller. */
  @Test
  void aJobThatHasClaimedATaskIsWaitedForWhateverTheSchedulerSays() throws IOException {
    submitted("created submitting submitted");
    Files.createFile(run.submission(Rows.KEY).resolve("claims/0"));

    pass();

    assertThat(scheduler.asked).doesNotContain("submit");
    assertThat(state().last()).map(Submission::phase).contains(Phase.SUBMITTED);
    assertThat(state().last()).flatMap(Submission::missed).isPresent();
  }

  @Test
  void afterThatTheRunHasFailed() {
    submitted("created submitting submitted closed");
    run.journal()
        .append(
            event("submitting", 10, "train_20251101_120000.zzzzzz"),
            event("submitted", 11, "train_20251101_120000.zzzzzz"));

    pass();

    assertThat(scheduler.asked).doesNotContain("submit");
    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(manifest().text("state")).isEqualTo("vanished");
    assertThat(workspace.openRuns()).isEmpty();
  }

  @Test
  void aCancelledRunIsNotSubmittedAgain() {
    submitted("created submitting submitted cancel_requested");

    pass();

    assertThat(scheduler.asked).doesNotContain("submit");
    assertThat(manifest().text("status")).isEqualTo("failed");
  }

  @Test
  void aJobThatTurnsUpAfterItsRunWasCancelledIsCancelled() {
    submitted("created submitting unknown cancel_requested");
    scheduler.queue.addAll(Rows.queue("0 PENDING; 1 PENDING"));

    pass();

    assertThat(scheduler.asked).containsOnlyOnce("cancel 100");
  }

  @Test
  void ofTwoJobsOfOneNameTheLowerIsKeptAndTheOtherCancelledBeforeItBegins() {
    submitted("created submitting unknown");
    scheduler.queue.addAll(Rows.queue("0 RUNNING; 1 RUNNING"));
    scheduler.queue.addAll(ofJob150("0 PENDING"));

    pass();

    assertThat(scheduler.asked).contains("cancel 150").doesNotContain("cancel 100");
    Submission adopted = state().last().orElseThrow();
    assertThat(adopted.jobId()).contains(100L);
    assertThat(adopted.duplicates()).containsExactly(150L);
  }

  /** A job that has begun a task may have claimed its work: it is left to end. */
  @Test
  void aDuplicateOfWhichATaskHasBegunIsNotCancelled() {
    submitted("created submitting unknown");
    scheduler.queue.addAll(Rows.queue("0 PENDING; 1 PENDING"));
    scheduler.queue.addAll(ofJob150("0 RUNNING; 1 PENDING"));

    pass();

    assertThat(scheduler.asked).doesNotContain("cancel 150", "cancel 100");
  }

  @Test
  void aRunWhoseSubmitterDiedBeforeItWasPlannedHasFailedAndSaysSo() {
    workspace.markOpen(run.id());

    assertThat(pass()).isTrue();

    assertThat(manifest().text("state")).isEqualTo("not_submitted");
    assertThat(SchemaCheck.problems(schema("manifest"), Json.pretty(manifest()))).isEmpty();
    assertThat(workspace.openRuns()).isEmpty();
  }

  @Test
  void aRunThatSomebodyElseWorksOnIsLeftToThem() throws IOException {
    submitted("created submitting submitted");
    scheduler.queue.addAll(Rows.queue("0 RUNNING"));
    Map<String, String> before = files();

    try (FileLock held = run.lock(Duration.ZERO).orElseThrow()) {
      assertThat(pass()).isFalse();
      assertThat(held.holds()).isTrue();
    }

    assertThat(files()).isEqualTo(before);
  }

  @Test
  void evidenceOfAnEarlierStateDecidesNothing() {
    submitted("created submitting unknown");
    RunState known = state();
    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(known));
    run.journal().append(event("adopted", 5, Rows.KEY));

    assertThat(newPass().reconcile(run, known, evidence, problems)).isFalse();

    assertThat(run.manifest()).doesNotExist();
  }

  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(workspace.root())) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        files.put(path.toString(), Files.readString(path));
      }
    }
    return files;
  }

  /** Entries of a second job of the same name. */
  private static List<QueueEntry> ofJob150(String entries) {
    List<QueueEntry> second = new ArrayList<>();
    for (QueueEntry entry : Rows.queue(entries)) {
      second.add(
          new QueueEntry(
              151 + entry.task(),
              150,
              entry.task(),
              entry.state(),
              entry.reason(),
              entry.start(),
              entry.end(),
              entry.name()));
    }
    return second;
  }
}
