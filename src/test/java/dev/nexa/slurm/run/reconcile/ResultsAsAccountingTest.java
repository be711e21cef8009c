package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs on a cluster that keeps no accounting. */
class ResultsAsAccountingTest extends RunPassFixture {

  @BeforeEach
  void keepNoAccounting() {
    scheduler.accountingKept = false;
  }

  @Test
  void whatTheJobsLeftEndsTheRunAndIsItsCost() throws IOException {
    submitted("created submitting submitted");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 0, "", 60);
    leaves("1.0", 0, "", 3600);

    assertThat(pass()).isTrue();

    assertThat(manifest().text("status")).isEqualTo("completed");
    assertThat(state().finished()).isTrue();
    assertThat(cost().object("actual").text("gpu_hours")).isEqualTo("2.0333");
    List<JsonObject> attempts = cost().object("actual").objects("attempts");
    assertThat(attempts).hasSize(2);
    assertThat(attempts.get(0).text("witness")).isEqualTo("job");
    assertThat(attempts.get(0).text("gpus_from")).isEqualTo("request");
    assertThat(SchemaCheck.problems(schema("cost"), Json.pretty(cost()))).isEmpty();
  }

  @ParameterizedTest(name = "exit {0}, signal {1}, {2} s: {3}")
  @CsvSource({
    "0, '', 60, completed",
    "1, '', 60, failed",
    "143, TERM, 60, cancelled",
    "143, TERM, 600, timeout",
    "0, TERM, 600, timeout",
    "0, TERM, 60, cancelled",
  })
  void theExitCodeAndTheClockTellHowItEnded(int exit, String signal, int seconds, String state)
      throws IOException {
    submitted("created submitting submitted");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", exit, signal, seconds);
    leaves("1.0", exit, signal, seconds);

    pass();

    assertThat(manifest().text("state")).isEqualTo(state);
  }

  @Test
  void everyAttemptCostsAndTheLastDecides() throws IOException {
    submitted("created submitting submitted confirmed");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 143, "TERM", 60);
    leaves("0.1", 0, "", 120);
    leaves("1.0", 0, "", 60);

    pass();

    assertThat(manifest().text("status")).isEqualTo("completed");
    assertThat(cost().object("actual").objects("attempts")).hasSize(3);
    assertThat(cost().text("wasted")).isEqualTo("0.03");
  }

  /** A node died under attempt 0: its time passed, and was paid for. */
  @Test
  void anAttemptThatWasKilledBeforeTheNextCostsToo() throws IOException {
    submitted("created submitting submitted confirmed");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.1", 0, "", 60);
    leaves("1.2", 0, "", 60);

    pass();

    assertThat(manifest().text("status")).isEqualTo("completed");
    List<JsonObject> attempts = cost().object("actual").objects("attempts");
    assertThat(attempts).hasSize(4);
    assertThat(attempts.get(0).text("state")).isEqualTo("FAILED");
    assertThat(attempts.get(0).number("elapsed_seconds")).isEqualTo(600);
  }

  /** squeue remembers for a while what has ended (MinJobAge), and knows why and when. */
  @Test
  void whatSqueueStillShowsIsBelieved() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("0 OUT_OF_MEMORY 10 70; 1 OUT_OF_MEMORY 10 71"));
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("1.0", 1, "", 60);

    pass();

    assertThat(manifest().text("state")).isEqualTo("out_of_memory");
    assertThat(cost().object("actual").objects("attempts").get(0).number("elapsed_seconds"))
        .isEqualTo(60);
  }

  /** Three GPUs, though two were planned; why it failed, and who it was. */
  @Test
  void whatSlurmctldRemembersOfATaskCompletesItsResult() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("0 OUT_OF_MEMORY 0 60; 1 COMPLETED 0 60"));
    scheduler.remembered.add(
        Rows.remembered("0 OUT_OF_MEMORY 0-61", 0, "cpu=8,mem=4G,gres/gpu:h100=3"));
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 1, "", 60);
    leaves("1.0", 0, "", 60);

    pass();

    List<JsonObject> attempts = cost().object("actual").objects("attempts");
    assertThat(scheduler.asked).containsOnlyOnce("job " + Rows.JOB);
    assertThat(attempts.get(0).text("state")).isEqualTo("OUT_OF_MEMORY");
    assertThat(attempts.get(0).text("witness")).isEqualTo("controller");
    assertThat(attempts.get(0).text("gpus_from")).isEqualTo("controller");
    assertThat(attempts.get(0).object("gpus").number("h100")).isEqualTo(3);
    assertThat(attempts.get(0).number("elapsed_seconds")).isEqualTo(60);
    assertThat(attempts.get(0).text("user")).isEqualTo("ada");
    assertThat(attempts.get(1).text("witness")).isEqualTo("job");
    assertThat(cost().texts("limits")).hasSize(2);
    assertThat(manifest().members()).doesNotContainKey("disagreements");
    assertThat(SchemaCheck.problems(schema("cost"), Json.pretty(cost()))).isEmpty();
  }

  /** It was queued again, and its second attempt was killed outright, after a minute. */
  @Test
  void anAttemptThatLeftNothingEndedWhenSlurmctldSays() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("0 NODE_FAIL 500 560; 1 COMPLETED 0 60"));
    scheduler.remembered.add(Rows.remembered("0 NODE_FAIL 500-560", 1, Rows.TRES));
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 143, "TERM", 60);
    leaves("1.0", 0, "", 60);

    pass();

    List<JsonObject> attempts = cost().object("actual").objects("attempts");
    assertThat(attempts)
        .extracting(attempt -> attempt.text("state"))
        .containsExactly("CANCELLED", "COMPLETED", "NODE_FAIL");
    assertThat(attempts.get(2).number("elapsed_seconds")).isEqualTo(60);
    assertThat(manifest().text("state")).isEqualTo("node_fail");
  }

  @Test
  void aResultHasTheLastWordAndTheDisagreementIsTold() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("0 FAILED 0 60; 1 COMPLETED 0 60"));
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 0, "", 60);
    leaves("1.0", 0, "", 60);

    pass();

    assertThat(manifest().text("status")).isEqualTo("completed");
    assertThat(manifest().texts("disagreements"))
        .singleElement()
        .asString()
        .startsWith("task 0 of " + Rows.KEY)
        .endsWith("says COMPLETED (0:0), slurmctld says FAILED; the result is taken");
    assertThat(problems).singleElement().asString().contains("slurmctld says FAILED");
  }

  /** Names are anybody's to give; squeue was asked for this user's jobs only. */
  @Test
  void aJobOfTheSameNameThatIsNotInOurQueueIsNotBelieved() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("1 COMPLETED 0 60"));
    scheduler.remembered.add(Rows.remembered("0 COMPLETED 0-1", 0, "cpu=1"));
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("1.0", 0, "", 60);

    pass();

    assertThat(cost().object("actual").objects("attempts"))
        .allSatisfy(attempt -> assertThat(attempt.text("witness")).isEqualTo("job"));
    assertThat(manifest().text("status")).isEqualTo("failed");
  }

  @Test
  void aResultThatCannotBeReadIsToldAndCountsAsNone() throws IOException {
    submitted("created submitting submitted confirmed");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("1.0", 0, "", 60);
    Files.writeString(run.submission(Rows.KEY).resolve("results/0.0.json"), "");

    pass();

    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(problems).singleElement().asString().contains("0.0.json");
  }

  /** Two faults at once: the answer was lost, and the job was killed with its node. */
  @Test
  void aJobWhoseAnswerWasLostAndThatLeftNothingIsOverAfterItsTimeLimit() throws IOException {
    submitted("created submitting unknown");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);

    pass();
    pass();

    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(cost().object("actual").objects("attempts")).hasSize(2);
  }

  @Test
  void aTaskInTheQueueHasNotEnded() throws IOException {
    submitted("created submitting submitted confirmed");
    scheduler.queue.addAll(Rows.queue("0 RUNNING; 1 PENDING"));
    begins(0, Rows.NOON);
    leaves("0.0", 143, "TERM", 60);

    pass();

    assertThat(manifest().text("status")).isEqualTo("running");
    assertThat(manifest().object("tasks").object("states"))
        .hasToString("{\"pending\":1,\"running\":1}");
  }

  /**
   * Nobody knows when it was killed: it is charged for all of its time, and only once that is over.
   */
  @Test
  void aTaskThatBeganAndLeftNothingIsOverAfterItsTimeLimit() throws IOException {
    submitted("created submitting submitted confirmed");
    Instant now = Instant.now();
    begins(0, now.minus(Duration.ofMinutes(9)));
    begins(1, Rows.NOON);
    leaves("1.0", 0, "", 60);

    pass();

    assertThat(manifest().text("status")).isEqualTo("running");

    begins(0, now.minus(Duration.ofMinutes(11)));
    pass();

    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(cost().object("actual").objects("attempts").get(1).number("elapsed_seconds"))
        .isEqualTo(600);
  }

  @Test
  void aTaskThatIsGoneAndNeverBeganWasCancelled() throws IOException {
    submitted("created submitting submitted confirmed");
    begins(1, Rows.NOON);
    leaves("1.0", 0, "", 60);

    pass();

    assertThat(manifest().text("state")).isEqualTo("cancelled");
    assertThat(cost().object("actual").objects("attempts")).hasSize(1);
  }

  /** A job with an id that never began may have been cancelled by its owner: not made again. */
  @Test
  void aJobThatVanishedHasFailedAndIsNotMadeAgain() {
    submitted("created submitting submitted");

    pass();

    assertThat(scheduler.asked).doesNotContain("submit");
    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(manifest().text("state")).isEqualTo("vanished");
  }

  @Test
  void aJobWhoseAnswerWasLostIsFoundByItsResult() throws IOException {
    submitted("created submitting unknown");
    begins(0, Rows.NOON);
    begins(1, Rows.NOON);
    leaves("0.0", 0, "", 60);
    leaves("1.0", 0, "", 60);

    pass();
    pass();

    assertThat(state().last().map(Submission::phase)).contains(Phase.CONFIRMED);
    assertThat(manifest().text("status")).isEqualTo("completed");
  }

  private void begins(int task, Instant at) throws IOException {
    Path claim = run.submission(Rows.KEY).resolve("claims/" + task);
    Files.deleteIfExists(claim);
    Files.createSymbolicLink(claim, claim.getFileSystem().getPath("" + (Rows.JOB + 1 + task)));
    Files.getFileAttributeView(claim, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .setTimes(FileTime.from(at), null, null);
  }

  /** A result as templates/lib/exit.ftl writes it. */
  private void leaves(String taskAndRestart, int exit, String signal, int seconds)
      throws IOException {
    String[] name = taskAndRestart.split("\\.", -1);
    long task = Long.parseLong(name[0]);
    long restart = Long.parseLong(name[1]);
    Instant start = Rows.NOON.plusSeconds(1000 * restart);
    JsonObject result =
        new JsonObject()
            .with("task", task)
            .with("restart", restart)
            .with("job_id", Rows.JOB + 1 + task)
            .with("array_job_id", Rows.JOB)
            .with("node", "n1")
            .with("started", start.getEpochSecond())
            .with("ended", start.getEpochSecond() + seconds)
            .with("exit_code", exit)
            .with("signal", signal);
    Files.writeString(
        run.submission(Rows.KEY).resolve("results/" + taskAndRestart + ".json"),
        Json.compact(result));
  }
}
