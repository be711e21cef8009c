package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.shared.StageName;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The section {@code defaults} of a cluster profile: values for runs that leave out {@code stage},
 * {@code backend} or {@code resources}. The values keep their positions in the profile.
 *
 * @param file the profile's path in the workspace, for messages
 * @param storage the profile's storage tiers, where models can lie
 * @param gpuTypes the types of the GPUs that the profile names
 * @param stage the default stage; empty if the profile gives none
 * @param backend the default backend of training runs; empty if the profile gives none
 * @param resources the default resources, in the order of the file; the first one that fits a run
 *     is used
 */
public record RunDefaults(
    String file,
    Storage storage,
    Set<String> gpuTypes,
    Optional<Scalar> stage,
    Optional<Scalar> backend,
    List<ForSize> resources) {
  /** The value of {@code trains} for runs that train adapters. */
  public static final String ADAPTERS = "adapters";

  /** The value of {@code trains} for runs that train all weights. */
  public static final String ALL_WEIGHTS = "all_weights";

  private static final String UP_TO = "up_to";
  private static final String TRAINS = "trains";
  private static final String STRATEGY = "strategy";

  static final Section KEYS =
      section(
          optional(
              "stage",
              StageName.TYPE,
              "The stage of runs that name none, if their keys do not say train."),
          optional(
              "backend",
              ValueType.NAME_WORD,
              "The backend of training runs that name none. The keys run, entrypoint and kd_lambda name a"
                  + " backend themselves."),
          optional(
              "resources",
              listOf(section(entryKeys())),
              "The resources of runs that leave some out. The first entry that fits the run is used, and the"
                  + " run's own keys win."));

  /**
   * One entry of {@code defaults.resources}.
   *
   * @param place the entry's place in the profile, such as {@code defaults.resources[0]}
   * @param upTo the most parameters of the model; empty for any
   * @param trains {@link #ADAPTERS} or {@link #ALL_WEIGHTS}; empty for every run
   * @param strategy the training strategy; empty if the entry gives none
   * @param node the whole entry
   * @param keys the keys of {@code resources} that it sets
   */
  public record ForSize(
      String place,
      Optional<String> upTo,
      Optional<String> trains,
      Optional<Scalar> strategy,
      YamlNode node,
      Map<String, YamlNode.Entry> keys) {

    /** Returns whether a model of that many parameters is small enough for this entry. */
    public boolean holds(long parameters) {
      return upTo.isEmpty() || parameters <= ModelSize.parse(upTo.get()).orElse(0L);
    }
  }

  private static KnownKey[] entryKeys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        optional(
            UP_TO,
            ValueType.text("a parameter count such as 350M, 7B or 8x7B", ModelSize.FORM),
            "The largest model that the entry is for. Default: any run, even without a model."));
    keys.add(
        optional(
            TRAINS,
            ValueType.choice(ALL_WEIGHTS, ADAPTERS),
            "The training runs that the entry is for: with an adapter or without. Default: every run."));
    keys.add(
        optional(
            STRATEGY,
            ValueType.choice("ddp", "fsdp", "zero1", "zero2", "zero3"),
            "The strategy of runs that write none, if they use axolotl or accelerate on more than one GPU."));
    for (KnownKey key : Resources.keys()) {
      keys.add(
          key.name().equals("time") ? required("time", key.shape(), key.doc()) : key.asOptional());
    }
    return keys.toArray(new KnownKey[0]);
  }

  /** Adds problems that concern several keys. */
  static void check(Values values) {
    StageName.check(values);
    boolean forAll = false;
    for (Values entry : values.sections("resources")) {
      if (forAll) {
        entry.report("", "is never used: an entry before it fits every run; move it up");
      }
      forAll |= !entry.has(UP_TO) && !entry.has(TRAINS);
      Resources.check(entry);
    }
  }

  /**
   * Returns the defaults of a profile that was read without problems.
   *
   * @param profile the profile as checked
   * @param root the profile's tree
   */
  public static RunDefaults of(ClusterProfile profile, YamlNode root) {
    YamlNode written = root.value("defaults");
    List<ForSize> resources = new ArrayList<>();
    if (written != null && written.value("resources") instanceof Sequence list) {
      for (YamlNode entry : list.elements()) {
        resources.add(entry("defaults.resources[" + resources.size() + "]", entry));
      }
    }
    return new RunDefaults(
        profile.file(),
        profile.storage(),
        profile.gpuTypes(),
        scalar(written, "stage"),
        scalar(written, "backend"),
        List.copyOf(resources));
  }

  private static ForSize entry(String place, YamlNode node) {
    Map<String, YamlNode.Entry> keys = new LinkedHashMap<>(((Mapping) node).entries());
    keys.keySet().removeAll(List.of(UP_TO, TRAINS, STRATEGY));
    return new ForSize(
        place,
        scalar(node, UP_TO).map(Scalar::text),
        scalar(node, TRAINS).map(Scalar::text),
        scalar(node, STRATEGY),
        node,
        keys);
  }

  private static Optional<Scalar> scalar(@Nullable YamlNode node, String key) {
    return node != null && node.value(key) instanceof Scalar scalar
        ? Optional.of(scalar)
        : Optional.empty();
  }
}
