package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * templates/lib/attempt.sh: a task names its folder of checkpoints if something complete is in it.
 */
class KeptCheckpointTest {
  /** The functions alone: the rest of the file needs a job. */
  private static final String FUNCTIONS =
      "source <(sed -n '/^nexa_kept() {/,/^}/p; /^nexa_page() {/,/^}/p; /^nexa_tracked() {/,/^}/p' templates/lib/attempt.sh)\n";

  private static final String ZIP = "printf 'PK\\003\\004weights PK\\005\\006 end' >";

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | true                                                       | false",
        "0 | echo x >final.bin                                          | true",
        "0 | mkdir -p a/b; echo x >a/b/c                                | true",
        "0 | : >empty                                                   | false",
        "0 | echo x >config.yaml; echo x >manifest.json                 | false",
        "1 | true                                                       | false",
        "1 | echo x >config.yaml; echo x >manifest.json                 | false",
        "1 | mkdir checkpoint-5; echo x >checkpoint-5/model.safetensors | false",
        "1 | mkdir checkpoint-5; PK checkpoint-5/optimizer.pt           | false",
        "1 | mkdir c; echo '{\"global_step\": 5}' >c/trainer_state.json | true",
        "1 | mkdir c; echo '{\"global_step\": 5' >c/trainer_state.json  | false",
        "1 | mkdir -p c/fsdp; echo x >c/fsdp/.metadata                  | false",
        "1 | mkdir c; echo x >c/.metadata                               | true",
        "1 | mkdir c; : >c/.complete                                    | true",
        "1 | echo global_step5 >latest                                  | true",
        "1 | PK step_5.pt                                               | true",
        "1 | echo half >step_5.pt                                       | false",
        "143 | PK step_5.pt                                             | true",
      })
  void aFailedTaskNamesOnlyWhatIsWhole(int status, String made, boolean named) throws IOException {
    String script =
        "set -euo pipefail\n"
            + FUNCTIONS
            + "export NEXA_CHECKPOINTS=$PWD/c NEXA_ATTEMPT=$PWD/0.0 NEXA_LOG=/dev/null\n"
                .replace("$PWD", folder.toString())
            + "mkdir -p \"$NEXA_CHECKPOINTS\"\n(cd \"$NEXA_CHECKPOINTS\"; "
            + made.replace("PK ", ZIP)
            + ")\nstatus="
            + status
            + "\nnexa_tracked\ncat \"$NEXA_ATTEMPT.tracked.json\" 2>/dev/null || true\n";

    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("bash", "-c", script),
                    Map.of("PATH", "/usr/bin:/bin"),
                    Path.of("").toAbsolutePath(),
                    Duration.ofSeconds(40)));

    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.out()).isEqualTo(named ? "{\"checkpoint\":\"" + folder + "/c\"}\n" : "");
  }
}
