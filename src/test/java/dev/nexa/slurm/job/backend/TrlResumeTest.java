package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The program that starts TRL's scripts, over a stand-in for trl and transformers that is in the
 * tests' resources: it has the shape of TRL's scripts and Trainer's order of writing. {@code
 * dev/trl-resume} does the same with the real ones.
 */
@Tag("full")
class TrlResumeTest {
  private static final Path STAND_IN = Path.of("src/test/resources/trl-stand-in").toAbsolutePath();

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"sft", "distillation"})
  void aLaterAttemptGoesOnFromTheNewestCheckpoint(String script) throws IOException {
    CommandResult first = run(List.of(), script, "--max_steps", "8", "--dies_at", "5");
    assertThat(first.exit()).isEqualTo(9);
    assertThat(first.out()).contains("training begins at step 0").contains("step 1\n");

    CommandResult second = run(List.of(), script, "--max_steps", "8");
    assertThat(second.exit()).as(second.err()).isZero();
    assertThat(second.out())
        .contains("training begins from " + folder.resolve("checkpoint-4"))
        .contains("step 5\n", "step 8\n", "model saved")
        .doesNotContain("step 4\n");
  }

  /** The process died while it wrote checkpoint-6: its trainer_state.json is cut. */
  @Test
  void aHalfWrittenCheckpointIsNotTaken() throws IOException {
    run(List.of(), "sft", "--max_steps", "8", "--dies_in_save", "6");

    CommandResult next = run(List.of(), "sft", "--max_steps", "8");

    assertThat(next.out())
        .contains("checkpoint-6 is not complete")
        .contains("training begins from " + folder.resolve("checkpoint-4"));
    assertThat(next.exit()).isZero();
  }

  /** Each way in which a checkpoint-9 can be less than whole. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "no state",
        "empty state",
        "another step",
        "sentinel",
        "cut weights",
        "empty weights",
        "cut optimizer",
        "a file"
      })
  void onlyAWholeCheckpointIsTaken(String fault) throws IOException {
    run(List.of(), "sft", "--max_steps", "4");
    Path broken = folder.resolve("checkpoint-9");
    if (fault.equals("a file")) {
      Files.writeString(broken, "");
    } else {
      Files.createDirectory(broken);
      String state =
          switch (fault) {
            case "empty state" -> "";
            case "another step" -> "{\"global_step\": 8}";
            default -> "{\"global_step\": 9}";
          };
      if (!fault.equals("no state")) {
        Files.writeString(broken.resolve("trainer_state.json"), state);
      }
      switch (fault) {
        case "sentinel" -> Files.writeString(broken.resolve("checkpoint-is-incomplete.txt"), "");
        case "cut weights" -> Files.write(broken.resolve("model.safetensors"), safetensors(7));
        case "empty weights" -> Files.write(broken.resolve("model.safetensors"), new byte[0]);
        case "cut optimizer" -> Files.writeString(broken.resolve("optimizer.pt"), "PK\3\4 cut");
        default -> {}
      }
    }

    assertThat(run(List.of(), "sft", "--max_steps", "12").out())
        .contains("training begins from " + folder.resolve("checkpoint-4"));
  }

  @Test
  void wholeWeightsAreTaken() throws IOException {
    Path whole = Files.createDirectory(folder.resolve("checkpoint-9"));
    Files.writeString(whole.resolve("trainer_state.json"), "{\"global_step\": 9}");
    Files.write(whole.resolve("model.safetensors"), safetensors(8));

    assertThat(run(List.of(), "sft", "--max_steps", "12").out())
        .contains("training begins from " + whole);
  }

  /** A link of a chain that begins after the last step trains nothing, and ends with 0. */
  @Test
  void aFinishedTrainingOnlySavesTheModel() throws IOException {
    run(List.of(), "sft", "--max_steps", "6");

    CommandResult again = run(List.of(), "sft", "--max_steps", "6");

    assertThat(again.exit()).isZero();
    assertThat(again.out()).contains("checkpoint-6").contains("model saved");
    assertThat(again.out()).doesNotContain("step 1\n");
  }

  @Test
  void warnedItSavesAndEndsSoThatItIsQueuedAgain() throws IOException {
    String warned =
        "import os, signal, sys, threading\n"
            + "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
            + "import runpy\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n";
    Path starter = Files.writeString(folder.resolve("starter.py"), warned);

    CommandResult first =
        run(
            List.of(starter.toString()),
            "--save-on-term",
            "sft",
            "--max_steps",
            "1000",
            "--save_steps",
            "1001",
            "--seconds",
            "0.05");
    assertThat(first.exit()).as(first.err()).isEqualTo(1);
    assertThat(first.out()).contains("warned; saved at step").doesNotContain("model saved");

    CommandResult next = run(List.of(), "sft", "--max_steps", "3");
    assertThat(next.out()).contains("training begins from " + folder.resolve("checkpoint-"));
  }

  @Test
  void theFirstAttemptMayBeginFromAnotherRunsCheckpoint() throws IOException {
    Path other = Files.createDirectories(folder.resolve("other/checkpoint-2"));
    Files.writeString(other.resolve("trainer_state.json"), "{\"global_step\": 2}");

    assertThat(
            run(List.of(), "sft", "--max_steps", "3", "--resume_from_checkpoint", other.toString())
                .out())
        .contains("training begins from " + other)
        .doesNotContain("step 1\n");
  }

  /** One tensor of so many bytes, which the head says are 8. */
  private static byte[] safetensors(int bytes) {
    String head = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    byte[] file = new byte[8 + head.length() + bytes];
    file[0] = (byte) head.length();
    for (int i = 0; i < head.length(); i++) {
      file[8 + i] = (byte) head.charAt(i);
    }
    return file;
  }

  /** What the runner's file is given, as a job would start it. */
  private CommandResult run(List<String> before, String... arguments) throws IOException {
    Path program = folder.resolve("trl_resume.py");
    Files.write(program, Trl.resume().content());
    List<String> argv = new ArrayList<>(List.of("python3", "-B", "-u"));
    argv.addAll(before);
    argv.add(program.toString());
    argv.addAll(List.of(arguments));
    argv.addAll(List.of("--output_dir", folder.toString()));
    if (!argv.contains("--save_steps")) {
      argv.addAll(List.of("--save_steps", "2"));
    }
    Map<String, String> environment =
        Map.of("PYTHONPATH", STAND_IN.toString(), "PATH", System.getenv("PATH"));
    return new CommandRunner().run(new Command(argv, environment, folder, Duration.ofSeconds(60)));
  }
}
