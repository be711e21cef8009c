package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Anything;
import dev.nexa.slurm.job.config.yaml.Schema.Axis;
import dev.nexa.slurm.job.config.yaml.Schema.Free;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Generates a JSON Schema (draft 2020-12) for each kind of config, so that editors can complete
 * keys.
 *
 * <p>The schemas come from the tables that check the configs. A test compares them with the files
 * in docs/schemas.
 */
public final class JsonSchema {
  private JsonSchema() {}

  /** Returns the schemas by file name. */
  public static Map<String, JsonObject> all() {
    Map<String, JsonObject> schemas = new LinkedHashMap<>();
    schemas.put("run.schema.json", root("A nexa-slurm run", RunConfig.SPEC));
    schemas.put("pipeline.schema.json", root("A nexa-slurm pipeline", PipelineConfig.SPEC));
    schemas.put("cluster.schema.json", root("A nexa-slurm cluster profile", ClusterProfile.SPEC));
    schemas.put("prices.schema.json", root("A nexa-slurm price book", PriceBook.SPEC));
    schemas.put("gpus.schema.json", root("nexa-slurm's table of GPUs", GpuCatalog.SPEC));
    schemas.put(
        "failures.schema.json", root("nexa-slurm's signatures of failures", FailurePatterns.SPEC));
    schemas.put("policy.schema.json", root("A nexa-slurm policy", Policy.SPEC));
    return schemas;
  }

  private static JsonObject root(String title, Section section) {
    JsonObject schema =
        new JsonObject()
            .with("$schema", "https://json-schema.org/draft/2020-12/schema")
            .with("title", title);
    of(section).members().forEach(schema::with);
    return schema;
  }

  private static JsonObject of(Schema shape) {
    if (shape instanceof ValueType type) {
      return scalar(type);
    }
    if (shape instanceof ListOf list) {
      return new JsonObject().with("type", "array").with("items", of(list.element()));
    }
    if (shape instanceof MapOf map) {
      return new JsonObject()
          .with("type", "object")
          .with("propertyNames", new JsonObject().with("pattern", map.name().pattern()))
          .with("additionalProperties", of(map.value()));
    }
    if (shape instanceof Anything) {
      return new JsonObject();
    }
    if (shape instanceof Axis axis) {
      return axis(axis);
    }
    return shape instanceof Free
        ? new JsonObject().with("type", "object")
        : section((Section) shape);
  }

  private static JsonObject axis(Axis axis) {
    JsonObject list = of(new ListOf(axis.element())).with("minItems", 1);
    Optional<Section> range = axis.range();
    return range.isEmpty()
        ? list
        : new JsonObject().with("anyOf", List.of(list, section(range.get())));
  }

  private static JsonObject scalar(ValueType type) {
    List<String> types = type.jsonTypes();
    JsonObject schema = new JsonObject().with("type", types.size() == 1 ? types.get(0) : types);
    if (!type.pattern().isEmpty()) {
      schema.with("pattern", type.pattern());
    }
    if (!type.choices().isEmpty()) {
      schema.with("enum", type.choices());
    }
    if (type.min() != null) {
      schema.with("minimum", type.min());
    }
    if (type.max() != null) {
      schema.with("maximum", type.max());
    }
    return schema;
  }

  /** Returns a default value: numbers and flags as JSON values, times and sizes as text. */
  private static Object fallback(KnownKey key) {
    Object value =
        key.shape() instanceof ValueType type ? type.parse(key.fallback()) : key.fallback();
    return value instanceof Integer || value instanceof Boolean ? value : key.fallback();
  }

  private static JsonObject section(Section section) {
    JsonObject properties = new JsonObject();
    for (KnownKey key : section.keys()) {
      JsonObject schema = of(key.shape()).with("description", key.doc());
      properties.with(
          key.name(), key.fallback().isEmpty() ? schema : schema.with("default", fallback(key)));
    }
    List<String> required =
        section.keys().stream()
            .filter(key -> key.required() && !key.inferable())
            .map(KnownKey::name)
            .toList();
    JsonObject schema = new JsonObject().with("type", "object").with("properties", properties);
    if (!required.isEmpty()) {
      schema.with("required", required);
    }
    if (section.others().isPresent()) {
      MapOf others = section.others().get();
      JsonObject pattern = new JsonObject().with(others.name().pattern(), of(others.value()));
      schema.with("patternProperties", pattern);
    }
    return schema.with("additionalProperties", false);
  }
}
