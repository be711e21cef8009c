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
          --gres=gpu           | --gpus      | 1
          --gres=gpu:h100      | --gpus      | h100:1
          --gpus-per-node=h100 | --gpus      | h100:1
          --gpus-per-node 4    | --gpus      | 4
          --mem=0              | --mem       | 0
          --mem 4G             | --mem       | 4G
          --array=0-9          | --array     | 0-9
          -a 0-15%4            | --array     | 0-15%4
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
    "--ntasks=4", "--nodes=1-2", "--gres=shard:1", "--gpus=2", "-G 2", "--output=%j.out",
    "--array=1-9", "--array=0-9:2", "--array=0", "-x n1", "frobnicate", "--exclusive",
    "--mem-per-cpu=4G", "'--gres=gpu:2,nvme:1'"
  })
  void anOptionThatWeDoNotHaveIsNamed(String line) {
    SbatchHeader header = SbatchHeader.of("#SBATCH " + line + "\n");

    assertThat(header.options()).isEmpty();
    assertThat(header.unread()).extracting(SbatchHeader.Unread::text).containsExactly(line);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          -N 2 --gpus-per-node=8        | {--nodes=2, --gpus=8} | []
          -N1 -c2                       | {--nodes=1, --cpus=2} | []
          --mem 4G -c 2                 | {--mem=4G, --cpus=2} | []
          -pcpu -t5                     | {--partition=cpu, --time=5} | []
          -Hpcpu -t5                    | {--partition=cpu, --time=5} | [-H]
          --exclusive -t 4              | {--time=4} | [--exclusive]
          --nice=3 -k -t 4              | {--time=4} | [--nice=3, -k]
          --qos high -t 4               | {--time=4} | [--qos high]
          -J "a b" -t7                  | {--name=a b, --time=7} | []
          -J x'y z'w -t7                | {--name=xy zw, --time=7} | []
          -J a\\"b -t7                  | {--name=a"b, --time=7} | []
          -J a#b -t7                    | {--name=a} | []
          -J "a#b" -t7                  | {--name=a#b, --time=7} | []
          -t 5 # -N 2                   | {--time=5} | []
          -N 2 -N 1-4                   | {} | [-N 1-4]
          -N 1-4 -N 2                   | {--nodes=2} | []
          --gpus-per-node=4 --gres=shard:1 | {--gpus=4} | [--gres=shard:1]
          """)
  void aLineMayHoldSeveralOptions(String line, String options, String unread) {
    SbatchHeader header = SbatchHeader.of("#!/bin/bash\n#SBATCH " + line + "\n");

    assertThat(header.options()).hasToString(options);
    assertThat(header.unread().stream().map(SbatchHeader.Unread::text).toList())
        .hasToString(unread);
  }

  @Test
  void theWordsOfAllLinesFollowEachOtherAndAnIndentedLineIsAComment() {
    SbatchHeader header =
        SbatchHeader.of("#!/bin/bash\n#SBATCH -N\n#SBATCH 2\n  #SBATCH -t 9\n\n#SBATCH\t-c 3\n");

    assertThat(header.options()).isEqualTo(Map.of("--nodes", "2", "--cpus", "3"));
    assertThat(header.lines()).isEqualTo(Map.of("--nodes", 2, "--cpus", 6));
    assertThat(header.unread()).isEmpty();
  }

  @Test
  void theHeaderEndsAtTheFirstCommand() {
    assertThat(SbatchHeader.of("#SBATCH -N 1\n#SBATCH -N 2\necho\n#SBATCH -N 3\n").options())
        .isEqualTo(Map.of("--nodes", "2"));
    assertThat(SbatchHeader.of("##SBATCH -N 1\n# SBATCH -N 1\n").options()).isEmpty();
    assertThat(SbatchHeader.of("").options()).isEmpty();
  }
}
