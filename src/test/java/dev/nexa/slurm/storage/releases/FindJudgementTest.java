package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose model an evaluation or a gate is about. A student is made of its teacher's answers. */
class FindJudgementTest {
  private static final RunId TEACHER = new RunId("train_20251101_100000");
  private static final RunId STUDENT = new RunId("train_20251102_100000");

  @TempDir Path folder;

  @BeforeEach
  void makeRuns() throws IOException {
    run(TEACHER.value(), 1, "\"checkpoint\": \"/d/checkpoints/" + TEACHER + "/final\"");
    run("generate_20251101_110000", 2, "", TEACHER.value());
    run(
        STUDENT.value(),
        3,
        "\"checkpoint\": \"/d/checkpoints/" + STUDENT + "/final\"",
        "generate_20251101_110000");
    run("generate_20251102_110000", 4, "", STUDENT.value());
  }

  /** A run that ended at this hour. */
  private void run(String id, int hour, String metrics, String... inputs) throws IOException {
    Path run = Files.createDirectories(folder.resolve("runs").resolve(id));
    Path manifests = Files.createDirectories(folder.resolve("runs/manifests"));
    for (String input : inputs) {
      Path link = Files.createDirectories(run.resolve("inputs").resolve(input));
      Files.createSymbolicLink(link.resolve("run"), Path.of("../../..", input));
      Files.createSymbolicLink(link.resolve("output"), Path.of("/d/datasets", input));
      Files.createSymbolicLink(link.resolve("checkpoints"), Path.of("/d/checkpoints", input));
      Files.writeString(link.resolve("tasks"), "1\n");
    }
    String checkpoint = metrics.startsWith("\"checkpoint\"") ? metrics + "," : "";
    String text =
        "{\"run_id\": \"%s\", \"stage\": \"x\", \"status\": \"completed\", \"state\": \"completed\", \"tags\": [], %s \"metrics\": {%s}, \"started\": \"2025-11-05T%02d:00:00Z\", \"ended\": \"2025-11-05T%02d:30:00Z\"}"
            .formatted(id, checkpoint, metrics, hour, hour);
    Files.writeString(manifests.resolve(id + ".json"), text);
    workspace()
        .run(new RunId(id))
        .journal()
        .append(
            Event.now(
                Event.Type.FINISHED,
                new JsonObject()
                    .with("status", "completed")
                    .with("manifest_sha256", Sha256.of(text))));
  }

  private Workspace workspace() {
    return new Workspace(folder, DurableFiles.onDisk());
  }

  private Path manifest(String id) {
    return folder.resolve("runs/manifests").resolve(id + ".json");
  }

  /** Its plan; the output folder is made, too. */
  private Path planned(String id, String stage, String step) throws IOException {
    String data = step.isEmpty() ? "" : "\"data\": {\"step\": \"" + step + "\", \"words\": []},";
    Files.writeString(
        folder.resolve("runs").resolve(id).resolve("plan.json"),
        ("{\"schema_version\": 1, \"stage\": \"%s\", %s \"training\": {}, \"storage\": {\"scratch\":"
                + " \"/s\", \"durable\": \"%s\", \"shared\": \"/h\", \"retention_days\": 30}}")
            .formatted(stage, data, folder.resolve("d")));
    return Files.createDirectories(
        folder.resolve("d").resolve(stage.equals("eval") ? "evals" : "datasets").resolve(id));
  }

  /** An evaluation that wrote this file; returns the file. */
  private Path scored(String id, int hour, String named, String file, String... inputs)
      throws IOException {
    run(id, hour, evaluation(named), inputs);
    return Files.writeString(planned(id, "eval", "score").resolve(file), "rows of " + id);
  }

  private void gated(String id, int hour, Path candidate, String verdict, String... inputs)
      throws IOException {
    run(id, hour, gate(candidate.toString(), verdict), inputs);
    planned(id, "gate", "gate");
  }

  private FindJudgement of(RunId run) {
    return new FindJudgement(workspace(), run);
  }

  private static String evaluation(String named) {
    return "\"evaluation\": {\"run_id\": \"" + named + "\", \"metrics\": []}";
  }

  private static String gate(String candidate, String verdict) {
    return "\"gate\": {\"verdict\": \"" + verdict + "\", \"candidate\": \"" + candidate + "\"}";
  }

  @Test
  void aStudentsEvaluationIsNotItsTeachers() throws IOException {
    String score = "eval_20251103_100000";
    Path file = scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    gated("gate_20251103_110000", 6, file.getParent(), "pass", score);

    assertThat(of(STUDENT).evaluation().orElseThrow().run().value()).isEqualTo(score);
    assertThat(of(STUDENT).gate().orElseThrow().run().value()).isEqualTo("gate_20251103_110000");
    assertThat(of(TEACHER).evaluation()).isEmpty();
    assertThat(of(TEACHER).gate()).isEmpty();
    assertThatThrownBy(() -> of(TEACHER).gate(new RunId("gate_20251103_110000")))
        .isInstanceOf(NexaException.class)
        .hasMessage(
            "--gate: the verdict of a gate of gate_20251103_110000 is not about the model of "
                + TEACHER);
    assertThatThrownBy(() -> of(TEACHER).evaluation(STUDENT))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("has not ended with an evaluation");
  }

  /** The evaluation says itself whose it is, so its inputs do not count. */
  @Test
  void theRunThatAnEvaluationNamesCounts() throws IOException {
    scored("eval_20251103_100000", 5, TEACHER.value(), "items", "generate_20251102_110000");

    assertThat(of(TEACHER).evaluation()).isPresent();
    assertThat(of(STUDENT).evaluation()).isEmpty();
  }

  /** An evaluation that compares two models is of neither. */
  @Test
  void anEvaluationOfTwoModelsIsOfNone() throws IOException {
    String score = "eval_20251103_100000";
    run(score, 5, evaluation(score), "generate_20251102_110000", TEACHER.value());

    assertThat(of(TEACHER).evaluation()).isEmpty();
    assertThat(of(STUDENT).evaluation()).isEmpty();
  }

  /** A later failure is not hidden by an earlier success. */
  @Test
  void theNewestVerdictCounts() throws IOException {
    String name = "science_eval_" + STUDENT + ".parquet";
    Path file = scored("eval_20251103_100000", 5, STUDENT.value(), name);
    // As the step score does.
    Path copy = Files.copy(file, folder.resolve("d/evals").resolve(name));
    gated("gate_20251103_110000", 6, file, "pass");
    gated("gate_20251103_120000", 7, copy, "fail");
    gated("gate_20251103_130000", 8, folder.resolve("d/evals/science_eval_other.parquet"), "pass");

    FindJudgement.Found found = of(STUDENT).gate().orElseThrow();
    assertThat(found.run().value()).isEqualTo("gate_20251103_120000");
    assertThat(found.metrics().text("verdict")).isEqualTo("fail");
    assertThat(of(TEACHER).gate()).isEmpty();
    assertThatThrownBy(() -> of(STUDENT).gate(new RunId("gate_20251103_110000")))
        .isInstanceOf(NexaException.class)
        .hasMessage(
            "--gate: after gate_20251103_110000, the gate gate_20251103_120000 of the same model"
                + " failed");
  }

  /** Any job can write any metrics, and any person any file. */
  @Test
  void aVerdictThatNoGateMadeOrOverAFileThatNoEvaluationMadeDoesNotCount() throws IOException {
    String name = "science_eval_" + STUDENT + ".jsonl";
    Path file = scored("eval_20251103_100000", 5, STUDENT.value(), name);
    run("eval_20251103_110000", 6, gate(file.toString(), "pass"));
    planned("eval_20251103_110000", "eval", "");
    Path byHand = Files.createDirectories(folder.resolve("mine")).resolve(name);
    Files.writeString(byHand, "better rows");
    gated("gate_20251103_120000", 7, byHand, "pass");
    gated("gate_20251103_130000", 8, folder.resolve("gone").resolve(name), "pass");

    assertThat(of(STUDENT).gate()).isEmpty();

    gated("gate_20251103_140000", 9, file, "pass");
    assertThat(of(STUDENT).gate()).isPresent();
  }

  /** Only the step score reads the answers; any other job can name any run. */
  @Test
  void aJobThatNamesARunMustHaveReadItsModel() throws IOException {
    String job = "eval_20251103_100000";
    run(job, 5, evaluation(STUDENT.value()));
    planned(job, "eval", "");
    assertThat(of(STUDENT).evaluation()).isEmpty();

    String honest = "eval_20251103_110000";
    run(honest, 6, evaluation(STUDENT.value()), "generate_20251102_110000");
    planned(honest, "eval", "");
    assertThat(of(STUDENT).evaluation().orElseThrow().run().value()).isEqualTo(honest);
  }

  /** The older gate passed. */
  @Test
  void aVerdictThatIsNotKnownIsNotReplacedByAnOlderOne() throws IOException {
    String score = "eval_20251103_100000";
    Path file = scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    gated("gate_20251103_110000", 6, file, "pass", score);
    String failed = "gate_20251103_120000";
    gated(failed, 7, file, "fail", score);
    String text = Files.readString(manifest(failed));

    Files.writeString(manifest(failed), text.replace("\"fail\"", "\"pass\""));
    unknown("the verdict of the gate " + failed + " is not known: ", "is not what the run's");
    Files.writeString(manifest(failed), "{");
    unknown("the verdict of the gate " + failed + " is not known: ", "is not what the run's");
    Files.delete(manifest(failed));
    unknown("the verdict of the gate " + failed + " is not known: ", "is missing");
    Files.writeString(manifest(failed), text);
    assertThat(of(STUDENT).gate().orElseThrow().passed()).isFalse();

    Files.delete(folder.resolve("runs").resolve(failed).resolve("journal.jsonl"));
    unknown("the gate " + failed + " of the same model is not over: it may fail", "");
    assertThat(of(TEACHER).gate()).isEmpty();
  }

  private void unknown(String begin, String part) {
    assertThatThrownBy(() -> of(STUDENT).gate())
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith(begin)
        .hasMessageContaining(part);
  }

  @Test
  void anEditedEvaluationDoesNotCount() throws IOException {
    String score = "eval_20251103_100000";
    Path file = scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    gated("gate_20251103_110000", 6, file, "pass", score);
    String text = Files.readString(manifest(score));

    Files.writeString(manifest(score), text.replace("completed", "complete"));

    assertThat(of(STUDENT).evaluation()).isEmpty();
    assertThat(of(STUDENT).gate()).isEmpty();
  }

  @Test
  void theApproverSeesWhichGatesFailedBefore() throws IOException {
    String score = "eval_20251103_100000";
    Path file = scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    gated("gate_20251103_110000", 6, file, "fail", score);
    gated("gate_20251103_120000", 7, file, "pass", score);

    FindJudgement student = of(STUDENT);
    FindJudgement.Found passed = student.gate().orElseThrow();
    assertThat(student.failedBefore(passed)).containsExactly("gate_20251103_110000");
    assertThat(student.maker(student.evaluation().orElseThrow())).isEqualTo("data.score");
  }

  /** The run that generated the answers began at four; a file may be a minute younger. */
  @Test
  void whatWasWrittenAfterTheEvaluationBeganIsFound() throws IOException {
    String score = "eval_20251103_100000";
    scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    Path checkpoint = Files.createDirectories(folder.resolve("checkpoint"));
    Path weights = Files.write(checkpoint.resolve("model.safetensors"), Models.safetensors());
    Path config = Files.writeString(checkpoint.resolve("config.json"), "{}");
    FindJudgement student = of(STUDENT);
    Instant began = student.inputs().began(new RunId(score), checkpoint.toRealPath()).orElseThrow();
    assertThat(began).isEqualTo("2025-11-05T04:00:00Z");
    Files.setLastModifiedTime(weights, FileTime.from(began.plusSeconds(59)));
    Files.setLastModifiedTime(config, FileTime.from(began.minusSeconds(59)));

    assertThat(changed(checkpoint, student)).isEmpty();
    Files.setLastModifiedTime(config, FileTime.from(began.plusSeconds(61)));
    assertThat(changed(checkpoint, student))
        .contains(
            config.toRealPath()
                + " was written at 2025-11-05T04:01:01Z, after the evaluation "
                + score
                + " began at "
                + began);

    Files.setLastModifiedTime(config, FileTime.from(began));
    Path link = Files.createSymbolicLink(folder.resolve("final"), checkpoint);
    assertThat(changed(link, student))
        .hasValueSatisfying(why -> assertThat(why).startsWith("the link " + link + " was written"));
    Path shared =
        Files.createSymbolicLink(checkpoint.resolve("vocab.json"), Path.of("config.json"));
    assertThat(changed(checkpoint, student))
        .hasValueSatisfying(why -> assertThat(why).startsWith(shared.toString()));
  }

  /** A swap that keeps size and time: rsync -a, cp -p, touch -r. The job noted what it read. */
  @Test
  void contentIsComparedWithWhatTheEvaluationRead() throws IOException {
    String score = "eval_20251103_100000";
    scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    Path model = Files.createDirectories(folder.resolve("checkpoint")).toRealPath();
    Path weights = Files.write(model.resolve("model.safetensors"), Models.safetensors());
    Path config = Files.writeString(model.resolve("config.json"), "{}");
    Path state = Files.writeString(model.resolve("optimizer.pt"), "state");
    note("generate_20251102_110000", weights, config, state);
    FindJudgement student = of(STUDENT);
    FileTime written = Files.getLastModifiedTime(weights);
    byte[] bytes = Files.readAllBytes(weights);

    Files.setLastModifiedTime(weights, FileTime.from(Instant.now().plusSeconds(600)));
    Files.delete(state);
    assertThat(changed(model, student)).isEmpty();

    bytes[bytes.length - 1] ^= 1;
    Files.write(weights, bytes);
    Files.setLastModifiedTime(weights, written);
    assertThat(changed(model, student))
        .contains(weights + " was changed since the evaluation " + score + " read it");

    bytes[bytes.length - 1] ^= 1;
    Files.write(weights, bytes);
    assertThat(changed(model, student)).isEmpty();
    Path added = Files.writeString(model.resolve("generation_config.json"), "{}");
    assertThat(changed(model, student).orElseThrow()).startsWith(added + " was added since");
    Files.delete(added);
    Files.delete(config);
    assertThat(changed(model, student).orElseThrow()).startsWith(config + " was removed since");
  }

  private static Optional<String> changed(Path checkpoint, FindJudgement judgement) {
    return WrittenLater.of(
        checkpoint,
        ModelSource.read(checkpoint),
        new RunId("eval_20251103_100000"),
        judgement.inputs());
  }

  /** Writes what a job's nexa_models writes. */
  private void note(String run, Path... files) throws IOException {
    Path runFolder = workspace().run(new RunId(run)).path();
    Path results = Files.createDirectories(runFolder.resolve("submissions/1/results"));
    Path done = Files.createDirectories(runFolder.resolve("done"));
    Files.createSymbolicLink(done.resolve("0"), Path.of("../submissions/1/results/0.0.json"));
    StringBuilder lines = new StringBuilder();
    for (Path file : files) {
      lines.append(Sha256.of(file)).append("  ").append(file).append('\n');
    }
    Files.writeString(results.resolve("0.0.models"), lines);
  }

  /** A gate that fails after the packaging keeps the release from production. */
  @Test
  void aLaterFailureIsFound() throws IOException {
    String score = "eval_20251103_100000";
    Path file = scored(score, 5, score, "items.jsonl", "generate_20251102_110000");
    String gate = "gate_20251103_110000";
    gated(gate, 6, file, "pass", score);
    ReleaseFile release = release(gate);
    assertThat(RunComparison.laterVerdict(workspace(), release)).isEmpty();

    gated("gate_20251103_120000", 7, file, "fail", score);
    assertThat(RunComparison.laterVerdict(workspace(), release))
        .hasValueSatisfying(
            refusal ->
                assertThat(refusal.why())
                    .isEqualTo(
                        "after its gate "
                            + gate
                            + ", the gate gate_20251103_120000 of the same model failed"));
    assertThat(RunComparison.laterVerdict(workspace(), release("gate_20251001_110000"))).isEmpty();

    gated("gate_20251103_130000", 8, file, "pass", score);
    assertThat(RunComparison.laterVerdict(workspace(), release)).isEmpty();

    Files.delete(manifest("gate_20251103_130000"));
    assertThat(RunComparison.laterVerdict(workspace(), release))
        .hasValueSatisfying(refusal -> assertThat(refusal.why()).contains("is not known"));
  }

  private static ReleaseFile release(String gate) {
    return new ReleaseFile(
        new ReleaseFile.Origin(
            "r",
            STUDENT.value(),
            Instant.EPOCH,
            new UnixUser("ada", Optional.empty()),
            "d",
            Optional.empty()),
        new ReleaseFile.Model("train", Optional.empty(), Optional.empty(), Optional.empty(), false),
        List.of(),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(
            new ReleaseFile.Gate(
                gate,
                ReleaseFile.Gate.Verdict.PASS,
                "eval/gate.json",
                new JsonObject(),
                List.of())),
        ReleaseFile.UNKNOWN,
        List.of(),
        List.of());
  }
}
