package dev.nexa.slurm.storage.lineage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import org.junit.jupiter.api.Test;

class LineageTextTest {
  private final LineageGraph graph = new LineageGraph();

  private static LineageNode run(String name) {
    return new LineageNode(Kind.RUN, name, new JsonObject().with("status", "completed"));
  }

  private static LineageNode dataset(String name) {
    return new LineageNode(Kind.DATASET, name, new JsonObject().with("rows", 7));
  }

  @Test
  void aTreeShowsWhatWasMadeOfWhatOnce() {
    graph.add(dataset("raw@v1"), run("data_1"));
    graph.add(run("data_1"), dataset("clean@v1"));
    graph.add(dataset("raw@v1"), dataset("clean@v1"));
    graph.add(dataset("clean@v1"), run("train_1"));
    graph.add(run("train_1"), run("eval_1"));

    assertThat(LineageText.tree(graph, run("train_1"), true))
        .isEqualTo(
            """
            run train_1  completed
            └─ dataset clean@v1  7 rows
               ├─ run data_1  completed
               │  └─ dataset raw@v1  7 rows
               └─ dataset raw@v1  7 rows
            """);
    assertThat(LineageText.tree(graph, dataset("raw@v1"), false))
        .isEqualTo(
            """
            dataset raw@v1  7 rows
            ├─ run data_1  completed
            │  └─ dataset clean@v1  7 rows
            │     └─ run train_1  completed
            │        └─ run eval_1  completed
            └─ dataset clean@v1  7 rows  (see above)
            """);
  }

  @Test
  void aCircleAndAThousandStepsEnd() {
    for (int i = 0; i < 5000; i++) {
      graph.add(dataset("d@v" + (i + 1)), dataset("d@v" + (i + 2)));
    }
    graph.add(dataset("d@v5001"), dataset("d@v1"));
    LineageGraph part = graph.around(dataset("d@v1"), true, true);

    assertThat(LineageText.tree(part, dataset("d@v1"), true)).hasLineCount(5002);
    assertThat(LineageText.mermaid(part)).contains("n0 --> ");
    assertThat(part.nodes()).hasSize(5001);
  }

  @Test
  void namesOfOthersAreOnlyText() {
    String name = "/data/\"];\n evil --> n0 #<script>`\u001b[31m";
    graph.add(new LineageNode(Kind.PATH, name, new JsonObject()), run("train_1"));

    String mermaid = LineageText.mermaid(graph);
    String tree = LineageText.tree(graph, run("train_1"), true);

    assertThat(mermaid.lines()).hasSize(4);
    assertThat(mermaid.lines().skip(1).limit(1).findFirst().orElseThrow())
        .matches("  n0\\[\\(\"[^\"<>`]*\"\\)\\]");
    assertThat(tree.lines()).hasSize(2);
    assertThat(tree).doesNotContain("\u001b");
  }

  @Test
  void theJsonHasEachThingAndEachArrowOnce() {
    graph.add(dataset("raw@v1"), run("data_1"));
    graph.add(dataset("raw@v1"), run("data_1"));

    JsonObject json = graph.toJson();

    assertThat(json.objects("nodes")).hasSize(2);
    assertThat(json.objects("edges"))
        .singleElement()
        .hasToString("{\"from\":\"dataset:raw@v1\",\"to\":\"run:data_1\"}");
  }
}
