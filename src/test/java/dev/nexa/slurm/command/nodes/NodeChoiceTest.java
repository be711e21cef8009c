package dev.nexa.slurm.command.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.cluster.scheduler.slurm.SlurmNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeChoiceTest {
  private static final List<SlurmNode> CLUSTER =
      List.of(
          node("debug", "n1", "idle", 8),
          node("gpu", "n1", "idle", 8),
          node("gpu", "n2", "allocated", 8),
          node("gpu", "n3", "idle", 4),
          node("gpu", "n4", "drained*", 8),
          node("cpu", "n5", "idle", 0));

  @Test
  void theIdleNodesOfAPartitionOneJobForLikeNodes() {
    NodeChoice choice = NodeChoice.idle(CLUSTER, "gpu");

    assertThat(choice.parts()).extracting(NodeChoiceTest::names).containsExactly("n1", "n3");
    assertThat(choice.leftOut()).containsExactly("n2 (allocated)", "n4 (drained*)");
    assertThat(NodeChoice.overrides(choice.parts().get(1), "full"))
        .containsExactly(
            "options.level=full",
            "resources.partition=gpu",
            "resources.nodes=1",
            "resources.nodelist=n3",
            "resources.gpus_per_node=4",
            "resources.gpu_type=h100");
    assertThat(NodeChoice.overrides(NodeChoice.idle(CLUSTER, "cpu").parts().get(0), "quick"))
        .noneMatch(one -> one.contains("gpu_"));
  }

  @Test
  void aJobHasAHundredNodesAtMost() {
    List<SlurmNode> many = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      many.add(node("gpu", "n" + i, i == 7 ? "mixed" : "idle", 8));
    }

    assertThat(NodeChoice.idle(many, "gpu").parts())
        .hasSize(10)
        .allMatch(part -> part.size() == 100 || part.size() == 99);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "n[1-2]  |       |       | gpu",
        "n1      |       |       | debug",
        "n1      |       | gpu   | gpu",
        "n1      | debug | gpu   | debug",
        "n4,n2   |       | debug | gpu",
      })
  void namedNodesInAPartitionThatHasThemAll(
      String list, String partition, String usual, String chosen) {
    NodeChoice choice =
        NodeChoice.named(CLUSTER, list, Optional.ofNullable(partition), Optional.ofNullable(usual));

    assertThat(choice.parts().get(0).get(0).partition()).isEqualTo(chosen);
    assertThat(choice.leftOut()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "n9     |     | --nodes n9: the cluster has no node n9 (did you mean 'n1'?)",
        "n1,n5  |     | --nodes n1,n5: no partition has all of them",
        "n1     | cpu | --nodes n1: no partition cpu has all of them",
        "n[1-   |     | --nodes n[1-: expected",
      })
  void othersAreRefused(String list, String partition, String message) {
    assertThatThrownBy(
            () -> NodeChoice.named(CLUSTER, list, Optional.ofNullable(partition), Optional.empty()))
        .hasMessageContaining(message);
  }

  @Test
  void aPartitionWithoutIdleNodes() {
    assertThatThrownBy(() -> NodeChoice.idle(CLUSTER, "gpus"))
        .hasMessageContaining("--partition gpus: sinfo shows no node of it (did you mean 'gpu'?)");
    assertThatThrownBy(() -> NodeChoice.idle(List.of(node("gpu", "n2", "allocated", 8)), "gpu"))
        .hasMessageContaining("none of its nodes is idle: n2 (allocated)");
  }

  private static SlurmNode node(String partition, String name, String state, int gpus) {
    return new SlurmNode(partition, name, state, gpus, gpus > 0 ? "h100" : "");
  }

  private static String names(List<SlurmNode> part) {
    return String.join(",", part.stream().map(SlurmNode::name).toList());
  }
}
