package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutputPathTest {

  @ParameterizedTest
  @CsvSource({
    "/l/%A_%a.err, /l/12_3.err",
    "e.%j, /work/e.77",
    "%4a-%04A-%1a, /work/0003-0012-3",
    "%20a, /work/0000000003",
    "100%%-%x-%u-%N-%n-%t-%s, /work/100%-key-ann-box-0-0-batch",
    "%J.%q%z, /work/77.%q%z",
    "end%, /work/end%",
    "end%5, /work/end%5",
    "'a\\\\b%A', '/work/a\\b%A'",
    "'a\\%A', '/work/a%A'",
  })
  void expandsSlurmsPatterns(String pattern, String path) {
    String quoted = pattern.replace("\\", "\\\\");
    Job job = Jobs.of("#SBATCH --array=0-9 --error=\"" + quoted + "\"");
    Attempt attempt = Attempt.first(3, 12, 1000).started(1001, 77);
    assertThat(new OutputPath(job, attempt).error()).hasToString(path);
  }

  @ParameterizedTest
  @CsvSource({"--array=0-9, /logs/12_3.out", "--time=5, /logs/12_4294967294.out"})
  void hasNoTaskNumberOutsideOfAnArray(String option, String path) {
    Job job = Jobs.of("#SBATCH " + option);
    OutputPath paths = new OutputPath(job, Attempt.first(3, 12, 1000).started(1001, 77));
    assertThat(paths.output()).hasToString(path);
    assertThat(paths.error()).isEqualTo(paths.output());
  }
}
