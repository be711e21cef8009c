package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The forms of doc/html/gres.shtml and of src/interfaces/gres.c, as sinfo's %G prints them. */
class GresTextTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (null)                                       | {}
          nvme:1                                       | {}
          gpu:h100:8                                   | {h100=8}
          gpu:h100:8(S:0-1)                            | {h100=8}
          gpu:8                                        | {=8}
          gpu                                          | {=1}
          gpu:h100                                     | {h100=1}
          nvme:1,gpu:a100:4(S:0,2-3),gpu:a100:4(S:1)   | {a100=8}
          gpu:a100:6,gpu:nvidia_a100_3g.20gb:2(S:0)    | {a100=6, nvidia_a100_3g.20gb=2}
          gpu:4,shard:16,mps:400,gpu_mem:80            | {=4}
          """)
  void onlyGpusCountAndPlacesDoNot(String gres, String gpus) {
    assertThat(GresText.gpus(gres)).hasToString(gpus);
  }
}
