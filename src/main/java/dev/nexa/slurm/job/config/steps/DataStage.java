package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The section {@code data} of a run's config: one step that our own program does (docs/data.md).
 * The backend is {@code data}, or for {@code generate} also {@code vllm}.
 *
 * @param step the step's name, such as {@code prepare}
 * @param words the options with paths, as they stand in the command
 * @param settings the step's other keys, with their defaults
 */
public record DataStage(String step, List<String> words, JsonObject settings) {
  /** The backend of these runs. */
  public static final String BACKEND = "data";

  /** All steps. */
  static final List<DataStep> STEPS =
      List.of(
          PrepareKeys.STEP,
          GenerateKeys.STEP,
          CollectKeys.STEP,
          FilterKeys.STEP,
          DuplicateKeys.BUCKETS,
          DuplicateKeys.CLUSTERS,
          JudgeKeys.STEP,
          ScoreKeys.STEP,
          GateKeys.STEP);

  public static final Section KEYS =
      section(
          STEPS.stream()
              .map(step -> optional(step.name(), step.keys(), step.doc()))
              .toArray(KnownKey[]::new));

  /** Returns the names of a step's settings: its keys, except the keys for paths. */
  public static List<String> settings(String step) {
    return step(step).settings("", step(step).keys()).stream().map(KnownKey::name).toList();
  }

  /**
   * Returns a step's settings, with the defaults of the keys that they lack: a person, or an
   * earlier version, may have written some of them only.
   */
  public static JsonObject withDefaults(String step, JsonObject settings) {
    return timesAsText(step(step).withDefaults("", step(step).keys(), settings));
  }

  private static DataStep step(String name) {
    return STEPS.stream().filter(step -> step.name().equals(name)).findFirst().orElseThrow();
  }

  public static DataStage from(Values data) {
    DataStep step = STEPS.stream().filter(one -> data.has(one.name())).findFirst().orElseThrow();
    Values values = data.section(step.name());
    JsonObject settings = timesAsText(values.json());
    List<String> words = new ArrayList<>();
    for (DataStep.PathKey path : step.paths()) {
      path.texts(values).forEach(text -> words.addAll(List.of(path.option(), text)));
      settings = without(settings, path.section(), path.key());
    }
    return new DataStage(step.name(), words, settings);
  }

  /** Returns a copy with each time as a text: a number would not say its unit. */
  private static JsonObject timesAsText(JsonObject json) {
    JsonObject copy = new JsonObject();
    json.members()
        .forEach(
            (key, value) ->
                copy.with(key, value instanceof Duration time ? TimeLimit.format(time) : value));
    return copy;
  }

  /** Returns a copy without a key of a section below, or of the object itself. */
  private static JsonObject without(JsonObject json, String section, String key) {
    JsonObject copy = new JsonObject();
    for (String name : json.members().keySet()) {
      Optional<JsonObject> below = json.optionalObject(name);
      if (name.equals(section) && below.isPresent()) {
        copy.with(name, without(below.get(), "", key));
      } else if (!section.isEmpty() || !name.equals(key)) {
        copy.with(name, json.members().get(name));
      }
    }
    return copy;
  }

  /** Adds the problems of a run's section {@code data}, and of keys that do not go with it. */
  public static void check(Values values) {
    String backend = values.optionalText("backend").orElse("");
    if (!values.has("data")) {
      if (backend.equals(BACKEND)) {
        values.report("data", "missing; backend data does one of " + String.join(", ", names()));
      }
      return;
    }
    Values data = values.section("data");
    List<DataStep> given = STEPS.stream().filter(step -> data.has(step.name())).toList();
    if (given.size() != 1) {
      values.report("data", "expected exactly one of " + String.join(", ", names()));
      return;
    }
    DataStep step = given.get(0);
    Values own = data.section(step.name());
    boolean generate = step.name().equals(GenerateKeys.STEP.name());
    if (generate && backend.equals(GenerateKeys.OWN_TEACHER)) {
      GenerateKeys.checkOwnTeacher(own, values);
    } else if (!backend.equals(BACKEND) && values.has("backend")) {
      String generates = "generate needs backend: data with a url, or backend: vllm without";
      values.report("data", generate ? generates : "needs backend: data");
    } else {
      checkOwnKeys(values);
      if (generate) {
        GenerateKeys.checkApi(own);
      }
    }
    if (values.has("sweep")) {
      values.report("sweep", "a data stage has no points; use array: {shards: N}");
    }
    Values array = values.section("array");
    if (array.has("indices")) {
      array.report("indices", "a data stage divides its rows; write shards: N");
    }
    Values resources = values.section("resources");
    if (!resources.optionalText("nodes").orElse("1").equals("1")) {
      resources.report("nodes", "a data stage works on one node; write array: {shards: N}");
    }
    step.paths().forEach(path -> path.requireAbsolute(own));
    step.rules().accept(own, array.optionalInteger("shards").orElse(1));
  }

  /** Adds the problems of keys that backend data does not read. */
  private static void checkOwnKeys(Values values) {
    for (String key : List.of("run", "entrypoint", "options", "options_file", "code")) {
      if (values.has(key)) {
        values.report(key, "backend data does not read it; leave it out");
      }
    }
    Values resources = values.section("resources");
    if (resources.optionalInteger("gpus_per_node").orElse(0) > 0) {
      resources.report("gpus_per_node", "a data stage uses no GPU; leave it out");
    }
  }

  private static List<String> names() {
    return STEPS.stream().map(DataStep::name).toList();
  }
}
