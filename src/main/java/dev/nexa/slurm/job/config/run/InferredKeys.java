package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.config.site.RunDefaults;
import dev.nexa.slurm.job.config.site.RunDefaults.ForSize;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds the keys {@code stage}, {@code backend}, {@code resources} and {@code strategy} to a run's
 * config that leaves some out. They follow from the config's other keys, else from the cluster
 * profile's {@code defaults}. Each added key has a note. A written key is never changed.
 *
 * <p>A config with {@code stage}, {@code backend} and {@code resources.time} is complete. It stays
 * unchanged.
 */
public final class InferredKeys {
  /** Keys that only training has. */
  private static final List<String> TRAINING =
      List.of("lr", "epochs", "grad_accumulation", "save_steps");

  /** Stages that do not train, whatever keys the config has. */
  private static final Set<String> OTHER_STAGES =
      Set.of("data", "generate", "filter", "eval", "serve", "sync");

  /** Backends that only train. */
  private static final Set<String> TRAINERS = Set.of("hf", "axolotl", "ax");

  /** Backends that never train. */
  private static final Set<String> OTHERS = Set.of("vllm", "lm_eval");

  /** Backends that can spread a model over GPUs. */
  private static final Set<String> SPREADERS = Set.of("axolotl", "ax", "accelerate", "acc");

  private final String file;
  private final RunDefaults defaults;
  private final List<String> notes;
  private final List<Problem> problems;
  private final UncheckedKeys keys;

  /** For a key that stays missing: what else the user can write. */
  private final Map<String, String> advice = new LinkedHashMap<>();

  /**
   * Creates the inference for one config.
   *
   * @param file the config's path, whose last part notes show
   * @param notes receives a note for each key that is added
   * @param problems receives a problem if the GPUs of a training run stay unknown
   */
  public InferredKeys(
      String file,
      Mapping written,
      RunDefaults defaults,
      List<String> notes,
      List<Problem> problems) {
    this.file = file.substring(file.lastIndexOf('/') + 1);
    this.defaults = defaults;
    this.notes = notes;
    this.problems = problems;
    this.keys = new UncheckedKeys(written);
  }

  /** Returns the config with the keys that follow from others or from the profile. */
  public Mapping fill() {
    stage();
    backend();
    Optional<ForSize> entry = entry();
    resources(entry);
    strategy(entry);
    return keys.mapping();
  }

  /**
   * Replaces each problem of a missing key that could not be inferred by one that also says where a
   * default can be written.
   */
  public void explain(List<Problem> all) {
    all.replaceAll(
        problem ->
            problem.code() == ErrorCode.CONFIG_MISSING_KEY && advice.containsKey(problem.key())
                ? problem.with(
                    (problem.key().equals("resources.time")
                            ? "missing; write a time limit, such as time: 2h"
                            : problem.message())
                        + "; "
                        + advice.get(problem.key()))
                : problem);
  }

  private void stage() {
    if (keys.writes("stage")) {
      return;
    }
    String backend = keys.text("backend").orElse("");
    if (keys.writes("sync")) {
      put("stage", "sync", "sync", "");
    } else if (TRAINERS.contains(backend)) {
      put("stage", "train", "backend", ": backend " + backend + " only trains");
    } else if (backend.equals("lm_eval")) {
      put("stage", "eval", "backend", ": backend lm_eval only evaluates");
    } else if (trainingKey().isPresent() && !OTHERS.contains(backend)) {
      put("stage", "train", trainingKey().get(), "");
    } else if (defaults.stage().isPresent()) {
      put("stage", defaults.stage().get());
    } else {
      advice.put("stage", "or write defaults.stage into " + defaults.file());
    }
  }

  private void backend() {
    if (keys.writes("backend")) {
      return;
    }
    boolean run = keys.writes("run");
    boolean entrypoint = keys.writes("entrypoint");
    if (keys.writes("sync")) {
      put("backend", "sync", "sync", "");
    } else if (run && entrypoint) {
      advice.put("backend", "run is for shell and entrypoint for python: remove one of them");
    } else if (run) {
      put("backend", "shell", "run", "");
    } else if (entrypoint) {
      put("backend", "python", "entrypoint", "");
    } else if (keys.writes("options_file")) {
      advice.put("backend", "name the runner that options_file belongs to");
    } else if (trains() && onlyAxolotlDistils()) {
      distiller();
    } else if (defaults.backend().isPresent() && trains()) {
      put("backend", defaults.backend().get());
    } else if (defaults.backend().isPresent()) {
      advice.put(
          "backend", "defaults.backend in " + defaults.file() + " is only for runs that train");
    } else {
      advice.put("backend", "or write defaults.backend into " + defaults.file());
    }
  }

  /** TRL's distillation needs a teacher model and has no weight between two losses. */
  private boolean onlyAxolotlDistils() {
    return distils() && (keys.has("kd_lambda") || !keys.has("teacher_model"));
  }

  private boolean distils() {
    return keys.text("use_kd").orElse("false").equals("true") || keys.varies("use_kd");
  }

  private void distiller() {
    String why =
        keys.has("kd_lambda")
            ? ". Of the runners, only axolotl has a weight between the teacher's loss and the data's own"
                + " loss"
            : ". Without teacher_model, only axolotl can distil";
    String reads =
        ". It reads the teacher's log-probabilities from the dataset's column `logprobs` and loads"
            + " no teacher model";
    put("backend", "axolotl", keys.has("kd_lambda") ? "kd_lambda" : "use_kd", why + reads);
  }

  /** Returns whether the run trains, as far as its stage and its keys show. */
  private boolean trains() {
    String stage = keys.text("stage").orElse("");
    return !OTHER_STAGES.contains(stage) && (stage.equals("train") || trainingKey().isPresent());
  }

  /** Returns a key that says that the run trains; empty if there is none. */
  private Optional<String> trainingKey() {
    Optional<String> training = TRAINING.stream().filter(keys::has).findFirst();
    if (training.isPresent() || distils()) {
      return training.or(() -> Optional.of("use_kd"));
    }
    boolean bare = Stream.of("backend", "run", "entrypoint", "array").noneMatch(keys::writes);
    return bare && keys.has("model_name") && keys.has("dataset_path")
        ? Optional.of("dataset_path")
        : Optional.empty();
  }

  /** Returns the profile's entry for this run; if there is none, {@link #advice} says why. */
  private Optional<ForSize> entry() {
    Optional<Long> parameters = parameters();
    Optional<String> trained = trained();
    @Nullable ForSize largest = null;
    for (ForSize entry : defaults.resources()) {
      if (entry.trains().isPresent() && !entry.trains().equals(trained)) {
        continue;
      }
      if (entry.upTo().isEmpty() || (parameters.isPresent() && entry.holds(parameters.get()))) {
        return Optional.of(entry);
      }
      if (parameters.isEmpty()) {
        advise(unknownSize());
        return Optional.empty();
      }
      largest = entry;
    }
    String list = "defaults.resources in " + defaults.file();
    if (defaults.resources().isEmpty()) {
      advise("or write " + list);
    } else if (largest == null) {
      advise("no entry of " + list + " is for a run that " + words(trained) + ": write resources");
    } else {
      String size = ModelSize.words(parameters.orElseThrow());
      advise(
          "no entry of %s is for %s parameters; the largest is up_to %s: write resources"
              .formatted(list, size, largest.upTo().orElseThrow()));
    }
    return Optional.empty();
  }

  private void advise(String text) {
    advice.put("resources", text);
    advice.put("resources.time", text);
    advice.put("resources.gpus_per_node", text);
  }

  private static String words(Optional<String> trained) {
    return trained.isEmpty()
        ? "does not train"
        : "trains " + trained.get().replace(RunDefaults.ALL_WEIGHTS, "all weights");
  }

  private String unknownSize() {
    String list = "defaults.resources in " + defaults.file() + " goes by the model's size";
    if (keys.varies("model_name") || keys.varies("model_size")) {
      return list + ", which this sweep varies: write resources for the largest model";
    }
    Optional<String> name = keys.text("model_name");
    return name.isEmpty()
        ? "or write model_size: " + list.replace("the model's size", "it")
        : ("%s, and neither the name '%s' nor a config.json in a folder of that name gives it;"
                + " write\n    model_size: 7B    # or 350M, 1.5B, 8x7B")
            .formatted(list, YamlNode.shortened(name.get()));
  }

  private Optional<Long> parameters() {
    if (keys.varies("model_name") || keys.varies("model_size")) {
      return Optional.empty();
    }
    Map<String, Object> given = new LinkedHashMap<>();
    for (String key : List.of("model_name", "model_size")) {
      keys.text(key).ifPresent(value -> given.put(key, value));
    }
    return ModelFolder.sized(new Training(given), defaults.storage()).parameters();
  }

  /** Returns what the run trains; empty if it does not train. */
  private Optional<String> trained() {
    if (!trains()) {
      return Optional.empty();
    }
    boolean adapters =
        !keys.text("adapter").orElse("none").equals("none") && !keys.varies("adapter");
    return Optional.of(adapters ? RunDefaults.ADAPTERS : RunDefaults.ALL_WEIGHTS);
  }

  private void resources(Optional<ForSize> entry) {
    YamlNode old = keys.value("resources");
    if (old != null && !(old instanceof Mapping)) {
      return;
    }
    Map<String, Entry> all =
        new LinkedHashMap<>(old instanceof Mapping mapping ? mapping.entries() : Map.of());
    if (entry.isEmpty()) {
      if (old != null && all.containsKey("time") && !all.containsKey("gpus_per_node") && trains()) {
        unknownGpus(old);
      }
      return;
    }
    List<String> added = new ArrayList<>();
    boolean noGpus = is(all.get("gpus_per_node"), "0");
    for (Map.Entry<String, Entry> key : entry.get().keys().entrySet()) {
      boolean useless = noGpus && key.getKey().equals("gpu_type");
      if (!useless && all.putIfAbsent(key.getKey(), key.getValue()) == null) {
        added.add(key.getKey() + " " + ((Scalar) key.getValue().value()).text());
      }
    }
    if (!added.isEmpty()) {
      YamlNode at = old == null ? entry.get().node() : old;
      keys.put("resources", new Mapping(at.at(), all));
      notes.add("resources " + String.join(", ", added) + ": from " + source(entry.get()));
    }
  }

  /** A training run would otherwise run without GPUs, because that is the key's default. */
  private void unknownGpus(YamlNode resources) {
    if (!defaults.resources().isEmpty()) {
      String key = "resources.gpus_per_node";
      String message = "missing; expected a whole number from 0 to 64";
      problems.add(new Problem(ErrorCode.CONFIG_MISSING_KEY, resources.at(), key, message));
    }
  }

  private String source(ForSize entry) {
    String place = defaults.file() + ": " + entry.place();
    if (entry.upTo().isEmpty()) {
      return place;
    }
    String model = YamlNode.shortened(keys.text("model_name").orElse("the model"));
    String size = ModelSize.words(parameters().orElseThrow());
    return place + ", up_to " + entry.upTo().get() + "; " + model + " has " + size + " parameters";
  }

  private void strategy(Optional<ForSize> entry) {
    boolean spreads =
        SPREADERS.contains(keys.text("backend").orElse("")) && trains() && ranks() && !isSpread();
    if (spreads && entry.isPresent() && entry.get().strategy().isPresent()) {
      Scalar strategy = entry.get().strategy().get();
      keys.put("strategy", strategy);
      notes.add(
          "strategy %s: from %s: %s.strategy"
              .formatted(strategy.text(), defaults.file(), entry.get().place()));
    }
  }

  /** Returns whether the config says how its program spreads the model, or starts its own. */
  private boolean isSpread() {
    return Stream.of("strategy", "fsdp", "entrypoint", "options_file", "options")
        .anyMatch(keys::has);
  }

  /** Returns whether the resources have more than one GPU. */
  private boolean ranks() {
    if (!(keys.value("resources") instanceof Mapping mapping)) {
      return false;
    }
    Entry gpus = mapping.entries().get("gpus_per_node");
    Entry nodes = mapping.entries().get("nodes");
    boolean none = gpus == null || is(gpus, "0");
    return !none && (!is(gpus, "1") || (nodes != null && !is(nodes, "1")));
  }

  private static boolean is(@Nullable Entry entry, String text) {
    return entry != null && entry.value() instanceof Scalar scalar && scalar.text().equals(text);
  }

  /** Adds a key that follows from another key of the config. */
  private void put(String key, String value, String from, String why) {
    keys.put(key, new Scalar(keys.at(from), value, ScalarType.STRING));
    notes.add(key + " " + value + ": from " + file + ": " + keys.path(from) + why);
  }

  /** Adds a key with the profile's value. */
  private void put(String key, Scalar value) {
    keys.put(key, value);
    notes.add(key + " " + value.text() + ": from " + defaults.file() + ": defaults." + key);
  }
}
