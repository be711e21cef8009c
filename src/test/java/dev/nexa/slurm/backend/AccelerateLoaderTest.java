package dev.nexa.slurm.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.plan.RunnerFile;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
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
 * What we write for accelerate, through the loader of the accelerate that is installed: {@code
 * -Daccelerate.python=VENV/bin/python}. Where none is, RunnersTest holds it against the release's
 * list of keys.
 */
class AccelerateLoaderTest {
  private static final String PYTHON = System.getProperty("accelerate.python", "python3");
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

    CommandResult loaded = load(new String(file.content(), StandardCharsets.UTF_8));

    assertThat(loaded.exit()).as(loaded.err()).isZero();
    assertThat(loaded.out()).containsAnyOf("FSDP", "DEEPSPEED", "MULTI_GPU");
  }

  /** The four keys of the seeds as they are written: this is why they are mapped. */
  @Test
  void itRefusesTheSeedsFlatFile() throws IOException {
    CommandResult refused =
        load(
            "mixed_precision: bf16\nfsdp: full_shard\nfsdp_offload_params: true\n"
                + "fsdp_state_dict_type: FULL_STATE_DICT\ncompute_environment: LOCAL_MACHINE\n"
                + "distributed_type: FSDP\n");

    assertThat(refused.exit()).isNotZero();
    assertThat(refused.err()).contains("fsdp_offload_params");
  }

  private CommandResult load(String yaml) throws IOException {
    Path file = Files.writeString(folder.resolve("accelerate.yaml"), yaml);
    assumeTrue(python("import accelerate").exit() == 0, "accelerate is not installed");
    return python(LOAD, file.toString());
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
