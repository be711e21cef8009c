package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    Files.writeString(
        manifests.resolve(id + ".json"),
        "{\"run_id\": \"%s\", \"stage\": \"x\", \"status\": \"completed\", \"state\": \"completed\", \"tags\": [], %s \"metrics\": {%s}, \"ended\": \"2025-11-05T%02d:00:00Z\"}"
            .formatted(id, checkpoint, metrics, hour));
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
    return new FindJudgement(new Workspace(folder, DurableFiles.onDisk()), run);
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
    run("eval_20251103_100000", 5, evaluation(TEACHER.value()), "generate_20251102_110000");

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
}
