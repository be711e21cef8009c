package dev.nexa.slurm.pipeline.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.submit.FakeSlurm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a pipeline when Slurm forgets a job, or does not answer. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class PipelineOnFakeSlurmTest {
  private static final String UNREACHABLE =
      "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2;"
          + " exit 1";

  private static final String POLICY = "approval_over: {amount: 1000.00, currency: USD}\n";

  @TempDir private Path root;
  private FakeSlurm slurm;
  private Context context;

  private record Typed(int exit, String out, String err) {}

  @BeforeEach
  void makeThem(@TempDir Path folder) throws IOException {
    slurm = new FakeSlurm(folder);
    Map<String, String> environment = new HashMap<>(slurm.environment());
    environment.put("NEXA_WORKSPACE", root.toString());
    context = new Context(root, environment);
    write("configs/policy.yaml", POLICY + "settle_window_seconds: 1\n");
    write(
        "configs/clusters/default.yaml",
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: %1$s/scratch, durable: %1$s/durable, shared: %1$s/shared}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """
            .formatted(root));
    for (String stage : List.of("a", "b", "c")) {
      write(
          stage + ".yaml",
          "stage: "
              + stage
              + "\nbackend: shell\nrun: \"true\"\nresources: {memory: 50M, time: 5m}\n");
    }
    write(
        "p.yaml",
        "stages: {a: {config: a.yaml}, b: {config: b.yaml}, c: {config: c.yaml, after: [b]}}\n");
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private Typed type(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        Main.run(
            command, context.environment(), new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }

  private PipelineFolder pipeline() {
    return context.workspace().allPipelines().get(0);
  }

  private RunFolder run(String stage) {
    return PipelineFile.read(pipeline()).stages().stream()
        .filter(one -> one.name().equals(stage))
        .map(one -> context.workspace().run(one.run()))
        .findFirst()
        .orElseThrow();
  }

  private RunState state(String stage) {
    return RunState.of(run(stage).journal().read());
  }

  private Submission last(String stage) {
    return state(stage).last().orElseThrow();
  }

  private void passUntil(BooleanSupplier there) throws InterruptedException {
    for (int i = 0; !there.getAsBoolean(); i++) {
      assertThat(i).isLessThan(100);
      new ReconcileRuns(context).reconcile();
      new AdvancePipelines(context).advance(new ArrayList<>());
      Thread.sleep(100);
    }
  }

  /** The jobs of all stages are in the queue, and a pass has seen them. */
  private void submitted() throws InterruptedException {
    assertThat(type("pipeline", "run", root.resolve("p.yaml").toString()).exit()).isZero();
    passUntil(
        () ->
            Stream.of("a", "b", "c")
                .allMatch(stage -> last(stage).phase() == Submission.Phase.CONFIRMED));
  }

  private void ends(String stage, String as) {
    slurm.addRow(last(stage).jobId().orElseThrow(), last(stage).key(), as);
  }

  @Test
  void whileSlurmDoesNotAnswerNobodySaysThatThereIsNoPipeline() throws Exception {
    submitted();
    slurm.instead("squeue", UNREACHABLE);

    Typed list = type("pipeline", "list");

    assertThat(list.exit()).isEqualTo(4);
    assertThat(list.out()).isEmpty();
    assertThat(list.err()).contains("slurm-unreachable").contains("nothing was changed");
  }

  /** How the state of a stage becomes unknown. */
  enum Doubt {
    LOST_AT_WORK,
    ANSWER_OF_SBATCH,
    MANIFEST_BROKEN,
    FOLDER_GONE
  }

  @ParameterizedTest
  @EnumSource
  void nobodyWaitsForeverForAStageWhoseStateIsUnknown(Doubt doubt) throws Exception {
    if (doubt == Doubt.ANSWER_OF_SBATCH) {
      write("configs/policy.yaml", POLICY + "settle_window_seconds: 600\n");
      slurm.sbatch("echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1");
      Typed submitted = type("pipeline", "run", root.resolve("p.yaml").toString());
      assertThat(submitted.exit()).as("%s", submitted).isEqualTo(4);
    } else {
      submitted();
      ends("a", "COMPLETED");
      ends("b", doubt == Doubt.LOST_AT_WORK ? "RUNNING" : "COMPLETED");
      if (doubt == Doubt.LOST_AT_WORK) {
        slurm.loseAll();
        slurm.queue(last("c").jobId().orElseThrow(), last("c").key());
        passUntil(() -> last("b").missed().isPresent());
      } else {
        slurm.loseAll();
        slurm.queue(last("c").jobId().orElseThrow(), last("c").key());
        RunFolder b = run("b");
        passUntil(() -> !b.isOpen());
        ends("c", "COMPLETED");
        slurm.loseAll();
        if (doubt == Doubt.MANIFEST_BROKEN) {
          Files.writeString(b.manifest(), "{");
        } else {
          remove(b.path());
          remove(b.manifest());
        }
      }
    }

    assertThatThrownBy(
            () ->
                new AwaitPipeline(context, Duration.ofSeconds(2))
                    .await(pipeline(), said -> {}, (stages, bytes) -> {}))
        .isInstanceOfSatisfying(
            NexaException.class,
            failed -> {
              assertThat(failed.code().text()).isEqualTo("run-state-unknown");
              assertThat(failed.exitCode().status()).isEqualTo(4);
              assertThat(failed.advice()).isNotEmpty();
            });
  }

  private static void remove(Path path) throws IOException {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(one);
      }
    }
  }

  /** One job failed, another vanished: only the first needs a rerun, the pass makes the other. */
  @Test
  void resumeGoesOnWithAStageWhoseJobThePassMakesAgain() throws Exception {
    submitted();
    ends("a", "FAILED");
    slurm.loseAll();

    Typed resumed = type("pipeline", "resume");

    assertThat(resumed.exit()).as("%s", resumed).isZero();
    assertThat(resumed.out())
        .contains("a: task 0 again, because it ended as failed", "b: it goes on");
    passUntil(() -> slurm.calls() == 6);
    assertThat(state("a").submissions()).hasSize(2);
    assertThat(state("b").submissions()).hasSize(2);
  }

  @Test
  void passesGoOnWithAPipelineWhoseResumeWasRefusedHalfway() throws Exception {
    submitted();
    for (String stage : List.of("a", "b")) {
      ends(stage, "FAILED");
    }
    slurm.loseAll();
    passUntil(() -> !run("b").isOpen());
    type("pipeline", "cancel");
    passUntil(() -> context.workspace().openPipelines().isEmpty());
    Path script = run("b").script();
    assertThat(script.toFile().setWritable(true)).isTrue();
    Files.writeString(script, Files.readString(script) + "# edited");

    Typed resumed = type("pipeline", "resume");

    assertThat(resumed.exit()).as("%s", resumed).isEqualTo(2);
    assertThat(resumed.out()).as("%s", resumed).contains("a: task 0 again");
    assertThat(context.workspace().openPipelines()).hasSize(1);
  }

  @Test
  void aNewRunOfAStageSaysThatNobodyReadsItAndWhatToTypeInstead() throws Exception {
    submitted();
    ends("a", "FAILED");
    slurm.loseAll();
    passUntil(() -> !run("a").isOpen());

    Typed rerun = type("rerun", run("a").id().value());

    assertThat(rerun.exit()).as("%s", rerun).isZero();
    assertThat(rerun.out()).contains("no stage of " + pipeline().id() + " reads this new run");
    String instead = rerun.out().replaceAll("(?s).*`nexa-slurm (rerun [^`]*)`.*", "$1");
    assertThat(type(instead.split(" ", -1)).exit()).as(instead).isZero();
    assertThat(state("a").submissions()).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "pipeline cancel, squeue",
    "pipeline cancel, scancel",
    "cancel --all --yes, squeue",
    "cancel --all --yes, scancel",
    "cancel RUN, squeue",
    "cancel RUN, scancel",
    "serve stop RUN, squeue"
  })
  void aCancelWhileSlurmDoesNotAnswerIsWrittenDownAndDoneLater(String command, String client)
      throws Exception {
    submitted();
    boolean one = command.endsWith("RUN");
    if (command.startsWith("serve")) {
      Files.createFile(run("b").path().resolve("api_key"));
    }
    slurm.instead(client, UNREACHABLE);
    slurm.instead("scancel", UNREACHABLE);

    Typed said = type(command.replace("RUN", run("b").id().value()).split(" ", -1));

    assertThat(said.exit()).as("%s", said).isEqualTo(4);
    assertThat(said.err()).contains("nexa-slurm reconcile", "written down");
    for (String stage : one ? List.of("b") : List.of("a", "b", "c")) {
      assertThat(state(stage).cancelRequested()).as(stage).isTrue();
    }
    slurm.asUsual(client);
    slurm.asUsual("scancel");
    passUntil(() -> slurm.queued().size() <= (one ? 2 : 0));
    assertThat(slurm.calls()).isEqualTo(3);
  }
}
