package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What we write for accelerate and what we ship for it, against the pinned release: by the rule of
 * its loader, with the keys that dev/runner-options read off its source. Where {@code
 * -Daccelerate.python=VENV/bin/python} names a Python that has accelerate, its own loader must come
 * to the same.
 */
class AccelerateLoaderTest {
  private static final String PYTHON = System.getProperty("accelerate.python", "");
  private static final String LOAD =
      "import sys; from accelerate.commands.config.config_args import load_config_from_file;"
          + " print(load_config_from_file(sys.argv[1]).distributed_type)";

  @TempDir Path folder;

  static List<RunnersTest.Case> cases() {
    return RunnersTest.CASES.stream().filter(run -> run.name().startsWith("accelerate")).toList();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void itLoadsWhatWeWrite(RunnersTest.Case run) throws IOException {
    RunnerFile file =
        run.launch().files().stream()
            .filter(each -> each.name().equals("accelerate.yaml"))
            .findAny()
            .orElseThrow();

    assertThat(refused(new String(file.content(), StandardCharsets.UTF_8))).isEmpty();
  }

  /** The seeds' command gives it to accelerate launch as it lies in configs. */
  @Test
  void itLoadsTheFileThatWeShip() throws IOException {
    String shipped = Files.readString(Path.of("configs/acc/fsdp_4gpu.yaml"));

    assertThat(refused(shipped)).isEmpty();
    List<Problem> problems = new ArrayList<>();
    RunnerOptions.of("accelerate")
        .check(RunnersTest.yaml(shipped), "", RunnersTest.anyPlan().written(), problems);
    assertThat(problems).isEmpty();
    assertThat(shipped).contains("num_processes: 4", "fsdp_reshard_after_forward: true");
    assertThat(shipped)
        .contains("mixed_precision: bf16", "fsdp_offload_params: true")
        .contains("fsdp_state_dict_type: FULL_STATE_DICT");
  }

  /** The four keys of the seeds as they are written: this is why they are mapped. */
  @Test
  void itRefusesTheSeedsFlatFile() throws IOException {
    assertThat(
            refused(
                "mixed_precision: bf16\nfsdp: full_shard\nfsdp_offload_params: true\n"
                    + "fsdp_state_dict_type: FULL_STATE_DICT\ncompute_environment: LOCAL_MACHINE\n"
                    + "distributed_type: FSDP\n"))
        .containsExactlyInAnyOrder("fsdp", "fsdp_offload_params", "fsdp_state_dict_type");
  }

  /**
   * The loader refuses a key at the top that its release does not have; it looks no deeper. The
   * real one judges too, where there is one.
   */
  private List<String> refused(String yaml) throws IOException {
    List<String> refused = new ArrayList<>();
    for (String key : RunnersTest.yaml(yaml).members().keySet()) {
      if (!RunnerOptions.of("accelerate").knows(key)) {
        refused.add(key);
      }
    }
    if (!PYTHON.isEmpty()) {
      Path file = Files.writeString(folder.resolve("accelerate.yaml"), yaml);
      CommandResult loaded = python(LOAD, file.toString());
      assertThat(loaded.exit() == 0).as(loaded.err()).isEqualTo(refused.isEmpty());
      refused.forEach(key -> assertThat(loaded.err()).contains(key));
    }
    return refused;
  }

  private CommandResult python(String program, String... arguments) throws IOException {
    List<String> argv = new ArrayList<>(List.of(PYTHON, "-c", program));
    argv.addAll(List.of(arguments));
    try {
      return new CommandRunner()
          .run(new Command(argv, System.getenv(), folder, Duration.ofSeconds(60)));
    } catch (IOException noPython) {
      return new CommandResult(127, "", "", false);
    }
  }
}
