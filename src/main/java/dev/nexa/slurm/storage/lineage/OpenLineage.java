package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Writes the runs of a graph as run events of OpenLineage 2-0-2, one JSON document on each line.
 * Each run that has ended has one event START and one event COMPLETE, FAIL or ABORT. Pure.
 *
 * <p>Of a run's facts it reads {@code started}, {@code ended}, {@code status}, {@code state},
 * {@code title} and {@code pipeline}.
 */
public record OpenLineage(LineageGraph graph, String namespace, String producer) {
  private static final String SPEC = "https://openlineage.io/spec/";
  private static final String EVENT = SPEC + "2-0-2/OpenLineage.json#/$defs/RunEvent";
  private static final String FACETS = SPEC + "facets/";

  /**
   * Creates a writer.
   *
   * @param namespace the namespace of the runs, which names the workspace
   * @param producer the version of this program; its name is made of it
   */
  public OpenLineage {
    producer = "urn:nexa-slurm:" + producer.replaceAll("[^A-Za-z0-9.-]", "-");
  }

  /** Returns whether a run has ended, so that it has events. */
  public static boolean hasEnded(LineageNode run) {
    return run.facts().optionalText("ended").isPresent();
  }

  /**
   * Returns the events of those runs that have ended, with a line feed after each.
   *
   * @param nodes things of the graph; only runs among them have events
   */
  public String lines(List<LineageNode> nodes) {
    StringBuilder lines = new StringBuilder();
    for (LineageNode node : nodes) {
      if (node.kind() == Kind.RUN && hasEnded(node)) {
        String ended = node.facts().text("ended");
        String started = node.facts().optionalText("started").orElse(ended);
        lines.append(Json.compact(event(node, "START", started))).append('\n');
        lines.append(Json.compact(event(node, end(node), ended))).append('\n');
      }
    }
    return lines.toString();
  }

  private static String end(LineageNode run) {
    if (run.facts().optionalText("status").orElse("").equals("completed")) {
      return "COMPLETE";
    }
    return run.facts().optionalText("state").orElse("").startsWith("CANCELLED") ? "ABORT" : "FAIL";
  }

  private JsonObject event(LineageNode run, String type, String time) {
    JsonObject facets = new JsonObject();
    Optional<String> pipeline = run.facts().optionalText("pipeline");
    if (pipeline.isPresent()) {
      facets.with(
          "parent",
          facet("1-0-0/ParentRunFacet.json#/$defs/ParentRunFacet")
              .with("run", new JsonObject().with("runId", id(pipeline.get())))
              .with("job", job(pipeline.get())));
    }
    return new JsonObject()
        .with("eventType", type)
        .with("eventTime", time)
        .with("run", new JsonObject().with("runId", id(run.name())).with("facets", facets))
        .with("job", job(run.facts().optionalText("title").orElse(run.name())))
        .with("inputs", graph.madeOf(run).stream().map(this::dataset).toList())
        .with("outputs", graph.makes(run).stream().map(this::dataset).toList())
        .with("producer", producer)
        .with("schemaURL", EVENT);
  }

  private JsonObject job(String name) {
    return new JsonObject().with("namespace", namespace).with("name", name);
  }

  /** Returns the id of a run or pipeline, which is the same each time. */
  private String id(String name) {
    byte[] bytes = (namespace + "/" + name).getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(bytes).toString();
  }

  private JsonObject dataset(LineageNode node) {
    String path = node.facts().optionalText("path").orElse(node.name());
    return new JsonObject()
        .with("namespace", path.startsWith("/") ? "file" : namespace)
        .with("name", path)
        .with("facets", facets(node));
  }

  private JsonObject facets(LineageNode node) {
    JsonObject facets = new JsonObject();
    if (node.kind() != Kind.DATASET) {
      return facets;
    }
    facets.with(
        "version",
        facet("1-0-0/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet")
            .with("datasetVersion", node.name()));
    Optional<JsonObject> schema = node.facts().optionalObject("schema");
    if (schema.isPresent()) {
      List<JsonObject> fields =
          schema.get().members().entrySet().stream()
              .map(one -> new JsonObject().with("name", one.getKey()).with("type", one.getValue()))
              .toList();
      facets.with(
          "schema",
          facet("1-0-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet").with("fields", fields));
    }
    return facets;
  }

  private JsonObject facet(String schema) {
    return new JsonObject().with("_producer", producer).with("_schemaURL", FACETS + schema);
  }
}
