package dev.nexa.slurm.storage.lineage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.net.URI;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The events have the members that the JSON schema of OpenLineage 2-0-2 requires. */
class OpenLineageTest {
  private static LineageNode run(String name, String state) {
    return new LineageNode(
        Kind.RUN,
        name,
        new JsonObject()
            .with("status", state.equals("COMPLETED") ? "completed" : "failed")
            .with("state", state)
            .with("pipeline", "pipeline_20251101_143200")
            .with("started", "2025-11-01T14:32:00Z")
            .with("ended", "2025-11-01T15:32:00Z"));
  }

  private static final LineageNode SCIENCE =
      new LineageNode(
          Kind.DATASET,
          "science@v1",
          new JsonObject()
              .with("path", "/mnt/nexa_durable/datasets/science")
              .with("schema", new JsonObject().with("text", "VARCHAR")));

  @Test
  void eachEndedRunHasOneStartAndOneEnd() {
    LineageGraph graph = new LineageGraph();
    graph.add(SCIENCE, run("train_1", "COMPLETED"));
    graph.add(new LineageNode(Kind.MODEL, "org/model", new JsonObject()), run("train_2", "FAILED"));
    graph.add(run("train_1", "COMPLETED"), run("eval_1", "CANCELLED by 1000"));
    LineageNode open =
        new LineageNode(Kind.RUN, "open", new JsonObject().with("status", "running"));
    graph.add(SCIENCE, open);

    String lines = new OpenLineage(graph, "nexa-slurm:/w s", "0.1 x").lines(graph.nodes());

    Map<String, List<String>> types = new LinkedHashMap<>();
    for (String line : lines.split("\n", -1)) {
      if (!line.isEmpty()) {
        JsonObject event = Json.parseObject(line);
        requireEvent(event);
        types
            .computeIfAbsent(event.object("job").text("name"), name -> new ArrayList<>())
            .add(event.text("eventType"));
      }
    }
    assertThat(types)
        .containsEntry("train_1", List.of("START", "COMPLETE"))
        .containsEntry("train_2", List.of("START", "FAIL"))
        .containsEntry("eval_1", List.of("START", "ABORT"))
        .doesNotContainKey("open");
    assertThat(lines)
        .isEqualTo(new OpenLineage(graph, "nexa-slurm:/w s", "0.1 x").lines(graph.nodes()));
    JsonObject first = Json.parseObject(lines.substring(0, lines.indexOf('\n')));
    assertThat(first.objects("inputs").get(0).text("name"))
        .isEqualTo("/mnt/nexa_durable/datasets/science");
  }

  /** What the schema says under {@code required}, with its formats. */
  private static void requireEvent(JsonObject event) {
    assertThat(event.text("eventType"))
        .isIn("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER");
    OffsetDateTime.parse(event.text("eventTime"));
    requireUri(event.text("producer"));
    requireUri(event.text("schemaURL"));
    UUID.fromString(event.object("run").text("runId"));
    requireJob(event.object("job"));
    JsonObject facets = event.object("run").object("facets");
    if (facets.optionalObject("parent").isPresent()) {
      JsonObject parent = facets.object("parent");
      requireFacet(parent);
      UUID.fromString(parent.object("run").text("runId"));
      requireJob(parent.object("job"));
    }
    for (String side : List.of("inputs", "outputs")) {
      for (JsonObject dataset : event.objects(side)) {
        requireJob(dataset);
        JsonObject own = dataset.object("facets");
        own.members().keySet().forEach(name -> requireFacet(own.object(name)));
        if (own.optionalObject("version").isPresent()) {
          assertThat(own.object("version").text("datasetVersion")).isNotEmpty();
        }
        if (own.optionalObject("schema").isPresent()) {
          own.object("schema")
              .objects("fields")
              .forEach(field -> assertThat(field.text("name")).isNotEmpty());
        }
      }
    }
  }

  private static void requireJob(JsonObject named) {
    assertThat(named.text("namespace")).isNotEmpty();
    assertThat(named.text("name")).isNotEmpty();
  }

  private static void requireFacet(JsonObject facet) {
    requireUri(facet.text("_producer"));
    requireUri(facet.text("_schemaURL"));
  }

  private static void requireUri(String text) {
    assertThat(URI.create(text).isAbsolute()).isTrue();
  }
}
