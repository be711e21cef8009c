package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.records.runs.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** templates/lib/inputs.sh beside earlier runs that are complete, and such that are not. */
@Execution(ExecutionMode.CONCURRENT)
class InputsTest {
  private static final String SHOW =
      "echo \"output=$NEXA_STAGE_train_output checkpoint=$NEXA_STAGE_train_checkpoint\"";

  @TempDir Path folder;
  private Path run;
  private Path earlier;

  @BeforeEach
  void makesTwoRuns() throws IOException {
    run = Files.createDirectories(folder.resolve("runs/eval_1"));
    earlier = Files.createDirectories(folder.resolve("runs/train_1"));
    Files.createDirectories(earlier.resolve("done"));
    Files.createDirectories(earlier.resolve("submissions/k/results"));
    Path input = Files.createDirectories(run.resolve("inputs/train"));
    Files.createSymbolicLink(input.resolve("run"), Path.of("../../../train_1"));
    Files.createSymbolicLink(input.resolve("output"), Path.of("/durable/datasets/train_1"));
    Files.createSymbolicLink(input.resolve("checkpoints"), Path.of("/durable/checkpoints/train_1"));
    Files.createDirectories(run.resolve("runner"));
    tasks(1);
  }

  @Test
  void aCompleteStageGivesItsFolders() throws IOException {
    done(0);

    assertThat(shell("nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs; " + SHOW))
        .isEqualTo("0 output=/durable/datasets/train_1 checkpoint=/durable/checkpoints/train_1\n");
  }

  @Test
  void theCheckpointIsTheTasksOwnIfItNamesOne() throws IOException {
    done(0);
    write(
        "0.0.metrics.json", "{\"loss\": 0.1, \"checkpoint\" : \"/durable/x & y/final\", \"n\": 3}");

    assertThat(shell("nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs; " + SHOW))
        .endsWith("checkpoint=/durable/x & y/final\n");
  }

  @Test
  void theTrackersFileCountsIfThereAreNoMetrics() throws IOException {
    done(0);
    write("0.0.tracked.json", "{\"checkpoint\":\"/durable/checkpoints/t\"}");

    assertThat(shell("nexa_input train afterok NEXA_STAGE_train; " + SHOW))
        .endsWith("checkpoint=/durable/checkpoints/t\n");
  }

  /** The job and {@code pipeline run --reuse} compute one digest. */
  @ParameterizedTest
  @CsvSource({"afterok, -1", "afterany, -1", "aftercorr, 0"})
  void theTaskNotesWhichAttemptsItUsed(String condition, int only) throws IOException {
    tasks(12);
    for (int task = 0; task < 12; task++) {
      done(task);
    }
    Path named = folder.resolve("runs/train_20261126_120000");
    Files.createSymbolicLink(named, earlier);
    RunFolder train = RunFolder.at(named).orElseThrow();
    OptionalInt task = only < 0 ? OptionalInt.empty() : OptionalInt.of(only);
    String before = train.attempts(task);

    String said =
        shell(
            "NEXA_SUBMISSION=x NEXA_ATTEMPT="
                + folder
                + "/0.0; nexa_input train "
                + condition
                + " NEXA_STAGE_train; nexa_require_inputs");

    assertThat(said).isEqualTo("0 ");
    assertThat(folder.resolve("0.0.inputs")).hasContent("train " + before);
    Files.delete(earlier.resolve("done/7"));
    Files.createSymbolicLink(
        earlier.resolve("done/7"), Path.of("../submissions/k/results/7.1.json"));
    assertThat(train.attempts(task).equals(before)).isEqualTo(only == 0);
  }

  @Test
  void oneMissingTaskOfManyEndsTheTask() throws IOException {
    tasks(3);
    done(0);
    done(2);

    assertThat(shell("nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs; echo began"))
        .startsWith("78 ")
        .contains("inputs: train: 2 of 3 tasks have completed; the command was not started")
        .doesNotContain("began");
  }

  @Test
  void aLinkThatComesLateIsWaitedFor() throws IOException {
    assertThat(
            shell(
                "(sleep 0.7; ln -s x \"$NEXA_RUN_DIR/inputs/train/run/done/0\") & "
                    + "nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs; echo began"))
        .isEqualTo("0 began\n");
  }

  @Test
  void aCorrespondingTaskNeedsOnlyItsOwn() throws IOException {
    tasks(3);
    done(1);

    assertThat(
            shell(
                "NEXA_TASK=1; nexa_input train aftercorr NEXA_STAGE_train; nexa_require_inputs; "
                    + SHOW))
        .endsWith("checkpoint=/durable/checkpoints/train_1/task_1\n");
    assertThat(shell("NEXA_TASK=2; nexa_input train aftercorr V; nexa_require_inputs; echo began"))
        .startsWith("78 ")
        .contains("task 2 has not completed");
  }

  @Test
  void afterAnyNeedsNothing() throws IOException {
    assertThat(shell("nexa_input train afterany V; nexa_require_inputs; echo began"))
        .isEqualTo("0 began\n");
  }

  @Test
  void inputsThatAreNotThereEndTheTask() throws IOException {
    assertThat(shell("nexa_input other afterok V; nexa_require_inputs; echo began"))
        .startsWith("78 ")
        .contains("inputs/other can't be read");
  }

  @Test
  void aFileIsFilledIn() throws IOException {
    done(0);
    write("0.0.metrics.json", "{\"checkpoint\": \"/d/a & b/$HOME/`x`\"}");
    Files.writeString(
        run.resolve("runner/trl.yaml"),
        "model: \"${stages.train.checkpoint}\"\nagain: ${stages.train.checkpoint}/x\n"
            + "data: ${stages.train.output}\nother: ${stages.prepare.output} \\n $1\n");

    assertThat(
            shell(
                "nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs trl.yaml; cat \"$NEXA_FILLED/trl.yaml\""))
        .isEqualTo(
            "0 model: \"/d/a & b/$HOME/`x`\"\nagain: /d/a & b/$HOME/`x`/x\n"
                + "data: /durable/datasets/train_1\nother: ${stages.prepare.output} \\n $1\n");
  }

  @Test
  void theTasksOwnFolderOnScratchIsFilledIn() throws IOException {
    Files.writeString(run.resolve("runner/a.yaml"), "nvme_path: \"${task_scratch}\"\n");

    assertThat(shell("nexa_require_inputs a.yaml; cat \"$NEXA_FILLED/a.yaml\""))
        .isEqualTo("0 nvme_path: \"/scratch/eval_1/task_0\"\n");
  }

  @Test
  void aValueThatAFileCannotHoldEndsTheTask() throws IOException {
    done(0);
    Path input = run.resolve("inputs/train/output");
    Files.delete(input);
    Files.createSymbolicLink(input, Path.of("/durable/a \"quoted\" name"));
    Files.writeString(run.resolve("runner/trl.yaml"), "data: \"${stages.train.output}\"\n");

    assertThat(
            shell(
                "nexa_input train afterok NEXA_STAGE_train; nexa_require_inputs trl.yaml; echo began"))
        .startsWith("78 ")
        .contains("can't stand in runner/trl.yaml");
  }

  private void tasks(int count) throws IOException {
    Files.writeString(run.resolve("inputs/train/tasks"), count + "\n");
  }

  private void done(int task) throws IOException {
    write(task + ".0.json", "{\"exit_code\":0}");
    Files.createSymbolicLink(
        earlier.resolve("done/" + task), Path.of("../submissions/k/results/" + task + ".0.json"));
  }

  private void write(String result, String text) throws IOException {
    Files.writeString(earlier.resolve("submissions/k/results").resolve(result), text);
  }

  /** Returns the exit status and all output of a script that sources the file as a job does. */
  private String shell(String script) throws IOException {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_RUN_DIR", run.toString());
    environment.put("NEXA_TASK", "0");
    environment.put("NEXA_TASK_SCRATCH", "/scratch/eval_1/task_0");
    environment.put("NEXA_FILLED", folder.resolve("filled").toString());
    String whole = "set -euo pipefail; exec 2>&1; source templates/lib/inputs.sh; " + script;
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("bash", "-c", whole),
                    environment,
                    Path.of("").toAbsolutePath(),
                    Duration.ofSeconds(40)));
    return result.exit() + " " + result.out();
  }
}
