package dev.nexa.slurm.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.config.SchemaCheck;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Submission.Phase;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.journal.Workspaces;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.Plans;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.submit.CrashPoint;
import dev.nexa.slurm.units.IndexRange;
import dev.nexa.slurm.units.Money;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A run in reconcile's passes; its events are long past, so that no window is open any more. */
class RunPassTest {
  private static final Policy POLICY =
      new Policy(
          "policy.yaml",
          new Money(BigDecimal.TEN, "USD"),
          3,
          1,
          Optional.of(Duration.ofSeconds(1)));

  private final Workspace workspace = Workspaces.inMemory();
  private final RunFolder run = workspace.claim("train", Rows.NOON);
  private final FakeScheduler scheduler = new FakeScheduler();
  private final List<String> problems = new ArrayList<>();

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
    scheduler.queue.addAll(
        Rows.queue("0 PENDING").stream()
            .map(
                entry ->
                    new dev.nexa.slurm.scheduler.QueueEntry(
                        151, 150, 0, entry.state(), "None", Optional.empty(), entry.name()))
            .toList());

    pass();

    assertThat(scheduler.asked).contains("cancel 150").doesNotContain("cancel 100");
    Submission adopted = state().last().orElseThrow();
    assertThat(adopted.jobId()).contains(100L);
    assertThat(adopted.duplicates()).containsExactly(150L);
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
    Evidence evidence = Evidence.gather(scheduler, List.of(known));
    run.journal().append(event("adopted", 5, Rows.KEY));

    assertThat(newPass().reconcile(run, known, evidence, problems)).isFalse();

    assertThat(run.manifest()).doesNotExist();
  }

  private void submitted(String events) {
    Plan plan =
        Plans.of(
            "stage: train\nbackend: shell\nrun: echo\narray: {shards: 2}\n"
                + "resources: {time: 10m, gpus_per_node: 2, gpu_type: h100}\n",
            Plans.CLUSTER);
    Price price = new Price(BigDecimal.ONE, "list");
    Rates rates =
        new Rates(
            "book",
            "2025-11-01",
            "d",
            "USD",
            Map.of("h100", price),
            Optional.empty(),
            Optional.empty());
    run.stage(
        new Script("#!/bin/bash\n", List.of(), "jar:x"),
        plan.toJson(),
        Estimate.of(plan, rates).toJson(false));
    run.stageSubmission(Rows.KEY, IndexRange.upTo(2), 0);
    workspace.markOpen(run.id());
    List<Event> all = new ArrayList<>();
    for (String type : events.split(" ", -1)) {
      all.add(event(type, all.size(), Rows.KEY));
    }
    run.journal().append(all.toArray(Event[]::new));
  }

  private static Event event(String type, int second, String key) {
    return new Event(
        Event.Type.valueOf(type.toUpperCase(Locale.ROOT)),
        Rows.NOON.plusSeconds(second),
        new JsonObject()
            .with("key", key)
            .with("tasks", "0-1")
            .with("job_id", Rows.JOB)
            .with("duplicates", List.of())
            .with("message", "it said why"));
  }

  private boolean pass() {
    Evidence evidence = Evidence.gather(scheduler, List.of(state()));
    return newPass().reconcile(run, state(), evidence, problems);
  }

  private RunPass newPass() {
    return new RunPass(workspace, scheduler, POLICY, CrashPoint.NONE);
  }

  private RunState state() {
    return RunState.of(run.journal().read());
  }

  private JsonObject manifest() {
    return Json.parseObject(DurableFiles.read(run.manifest()));
  }

  private JsonObject cost() {
    return Json.parseObject(DurableFiles.read(run.cost()));
  }

  private static JsonObject schema(String kind) {
    return Json.parseObject(DurableFiles.read(Path.of("docs/schemas/" + kind + ".schema.json")));
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
}
