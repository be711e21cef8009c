package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code #SBATCH} lines mean as our options. */
class SbatchHeaderTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          --time=1:00:00       | --time      | 1:00:00
          -t 30                | --time      | 30
          --nodes 4            | --nodes     | 4
          -N4                  | --nodes     | 4
          --gpus-per-node=a100:2 | --gpus    | a100:2
          --gres=gpu:2         | --gpus      | 2
          --gres=gpu:h100:8    | --gpus      | h100:8
          --mem=16             | --mem       | 16M
          --mem=16G            | --mem       | 16G
          --cpus-per-task=6    | --cpus      | 6
          -p gpu # the big one | --partition | gpu
          -A nlp               | --account   | nlp
          --job-name="sft"     | --name      | sft
          """)
  void anOptionIsOurs(String line, String option, String value) {
    SbatchHeader header = SbatchHeader.of("#!/bin/bash\n\n#SBATCH " + line + "\necho\n");

    assertThat(header.options()).isEqualTo(Map.of(option, value));
    assertThat(header.unread()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "--ntasks=4", "--nodes=1-2", "--mem=0", "--gres=shard:1", "--gres=gpu", "--output=%j.out",
    "--array=0-9", "--time=10 --nodes=2", "--job-name=a b", "-x n1", "frobnicate", "--exclusive",
    "--mem-per-cpu=4G"
  })
  void anOptionThatWeDoNotHaveIsNamed(String line) {
    SbatchHeader header = SbatchHeader.of("#SBATCH " + line + "\n");

    assertThat(header.options()).isEmpty();
    assertThat(header.unread()).containsExactly(line);
  }

  @Test
  void theHeaderEndsAtTheFirstCommand() {
    assertThat(SbatchHeader.of("#SBATCH -N 1\n#SBATCH -N 2\necho\n#SBATCH -N 3\n").options())
        .isEqualTo(Map.of("--nodes", "2"));
    assertThat(SbatchHeader.of("##SBATCH -N 1\n# SBATCH -N 1\n").options()).isEmpty();
    assertThat(SbatchHeader.of("").options()).isEmpty();
  }
}
