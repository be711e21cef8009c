package dev.nexa.slurm.job.config.pipeline;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.run.Overrides;
import dev.nexa.slurm.job.config.run.UnknownKeys;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A pipeline's file: runs that wait for each other.
 *
 * <pre>
 * stages:
 *   prepare: {config: configs/data/quickstart.yaml}
 *   train:
 *     config: configs/train/science.yaml
 *     after: [prepare]
 *     set: {dataset_path: "${stages.prepare.output}"}
 * </pre>
 *
 * @param name the pipeline's name: the key {@code name}, else the file's name
 * @param file the file that the pipeline was read from, for messages
 * @param cluster the cluster profile of all stages; empty if each stage's config decides
 * @param stages the stages; each stands after the stages that it waits for, else as in the file
 */
public record PipelineConfig(
    String name, String file, Optional<String> cluster, List<Stage> stages) {
  private static final String EACH = "${each}";
  private static final int MOST_STAGES = 1000;
  private static final String NAME = "[a-z][a-z0-9-]{0,30}";
  private static final String ITEM = "[A-Za-z0-9_-]{1,40}";

  /** A stage's name, also with an item of {@code for_each}. */
  static final String FULL_NAME = NAME + "(\\." + ITEM + ")?";

  private static final ValueType STAGE_NAME =
      ValueType.text("lower-case letters, digits and '-', such as train", NAME);

  /** As sbatch(1) writes a dependency: TYPE:JOB. */
  private static final ValueType WAITS =
      ValueType.text(
          "a stage, or TYPE:STAGE with afterok, afterany, afternotok or aftercorr",
          "((afterok|afterany|afternotok|aftercorr):)?" + FULL_NAME);

  private static final Section STAGE =
      section(
          required("config", ValueType.TEXT, "The run's config, as `submit` finds it by its path."),
          optional(
              "after",
              listOf(WAITS),
              "The stages that this stage waits for: `STAGE` or `TYPE:STAGE`, with sbatch's types. `STAGE` is"
                  + " `afterok:STAGE`."),
          optional(
              "set",
              new Schema.Free(),
              "Keys of the run's config and their values in this pipeline, such as `{lr: 1e-5, resources.time: 2h}`."),
          optional(
              "for_each",
              listOf(ValueType.count("letters, digits, '_' and '-'", ITEM)),
              "Makes a stage NAME.ITEM for each item of the list. `${each}` in `config` and `set` is the item."));

  /** All keys of the file. */
  public static final Section SPEC =
      section(
          optional("name", ValueType.NAME_WORD, "The pipeline's name. Default: the file's name."),
          optional(
              "cluster",
              ValueType.NAME_WORD,
              "The cluster profile of all stages, configs/clusters/NAME.yaml. Default: each stage's own."),
          required("stages", mapOf(STAGE_NAME, STAGE), "The stages, by name."));

  /** When a stage may start, by the end of another. The names and meanings are sbatch's. */
  public enum Condition {
    AFTEROK,
    AFTERANY,
    AFTERNOTOK,
    AFTERCORR;

    /** Returns sbatch's word. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One run of the pipeline.
   *
   * @param name the stage's name; with {@code for_each}, NAME.ITEM
   * @param config the path of the run's config
   * @param after the stages that it waits for, in the order of the file
   * @param set the keys that the pipeline sets in the config
   */
  public record Stage(
      String name, String config, Map<String, Condition> after, List<Overrides.Replacement> set) {

    /**
     * Returns the job's variable for a reference to a stage, such as {@code train.checkpoint}. Two
     * stages of a pipeline never have the same variable.
     */
    public static String variable(String reference) {
      return "NEXA_STAGE_" + reference.replace('-', '_').replace('.', '_');
    }

    /** Returns the name without an item of {@code for_each}. */
    public String base() {
      int dot = name.indexOf('.');
      return dot < 0 ? name : name.substring(0, dot);
    }
  }

  public static PipelineConfig from(ConfigSource.Found file, YamlNode root, Values values) {
    Values written = values.section("stages");
    Map<String, List<String>> items = new LinkedHashMap<>();
    for (String name : written.names()) {
      Values stage = written.section(name);
      List<String> each = stage.texts("for_each");
      items.put(name, each);
      if (stage.has("for_each") && each.isEmpty()) {
        stage.report("for_each", "expected at least one item");
      } else if (new HashSet<>(each).size() < each.size()) {
        stage.report("for_each", "names an item twice");
      }
    }
    List<Stage> stages = new ArrayList<>();
    for (String name : written.names()) {
      Values stage = written.section(name);
      Map<String, Condition> after = StageOrder.after(name, stage, items);
      List<String> each = items.getOrDefault(name, List.of());
      if (each.isEmpty() && stage.text("config").contains(EACH)) {
        stage.report("config", EACH + " needs `for_each`");
      }
      for (String item : each.isEmpty() ? List.of("") : each) {
        String full = item.isEmpty() ? name : name + "." + item;
        stages.add(
            new Stage(
                full,
                stage.text("config").replace(EACH, item.isEmpty() ? EACH : item),
                after,
                set(root, name, item)));
      }
    }
    if (stages.isEmpty()) {
      values.report("stages", "expected at least one stage");
    } else if (stages.size() > MOST_STAGES) {
      values.report("stages", "are " + stages.size() + " with for_each, more than " + MOST_STAGES);
    }
    requireOneVariableEach(stages, values);
    Problem.throwIfAny(values.problems());
    return new PipelineConfig(
        values.optionalText("name").orElse(baseName(file.name())),
        file.name(),
        values.optionalText("cluster"),
        StageOrder.sorted(stages, written));
  }

  private static void requireOneVariableEach(List<Stage> stages, Values values) {
    Map<String, String> names = new HashMap<>();
    for (Stage stage : stages) {
      String other = names.putIfAbsent(Stage.variable(stage.name()), stage.name());
      if (other != null) {
        values.report(
            "stages",
            ("the names '%s' and '%s' differ only in '-', '_' and '.'; a job could"
                    + " not tell them apart")
                .formatted(other, stage.name()));
      }
    }
  }

  private static String baseName(String file) {
    return file.substring(file.lastIndexOf('/') + 1).replaceFirst("\\.ya?ml$", "");
  }

  /** Returns the keys that a stage sets, with their positions. A mapping sets each of its keys. */
  private static List<Overrides.Replacement> set(YamlNode root, String stage, String item) {
    Entry written = UnknownKeys.at(root, "stages." + stage + ".set");
    if (written == null) {
      return List.of();
    }
    List<Overrides.Replacement> set = new ArrayList<>();
    leaves(written.value(), List.of(), item, set);
    return List.copyOf(set);
  }

  private static void leaves(
      YamlNode node, List<String> path, String item, List<Overrides.Replacement> set) {
    if (node instanceof Mapping mapping && (path.isEmpty() || !mapping.entries().isEmpty())) {
      mapping
          .entries()
          .forEach(
              (key, entry) -> {
                List<String> deeper = new ArrayList<>(path);
                deeper.addAll(Overrides.path(key));
                leaves(entry.value(), deeper, item, set);
              });
      return;
    }
    set.add(new Overrides.Replacement(node.at(), path, each(node, item)));
  }

  private static YamlNode each(YamlNode node, String item) {
    return item.isEmpty() ? node : node.withTexts(text -> text.replace(EACH, item));
  }
}
