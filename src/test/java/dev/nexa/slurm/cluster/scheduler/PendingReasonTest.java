package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PendingReasonTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Resources                | next in line, waiting for nodes to become free
          Priority                 | other jobs are ahead in the queue
          DependencyNeverSatisfied | will never start: the job it depends on did not end as needed
          JobArrayTaskLimit        | as many tasks run at once as array.max_parallel allows
          JobHeldUser              | held; `scontrol release` lets it go
          ReqNodeNotAvail, UnavailableNodes:n1 | the nodes that it could use are down, drained or reserved; `sinfo -R` says why
          Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions | the nodes that it could use are down, drained or reserved; `sinfo -R` says why
          SomethingNew             | waits; Slurm's reason is SomethingNew
          """)
  void slurmsWordIsToldAsASentence(String reason, String sentence) {
    assertThat(PendingReason.sentence(reason)).isEqualTo(sentence);
  }
}
