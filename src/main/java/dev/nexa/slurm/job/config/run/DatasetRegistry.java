package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.DatasetVersion.Status;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the registry of datasets, and checks that a run's datasets are in it, if the policy
 * requires that ({@code registered_datasets}, {@code promoted_datasets}).
 *
 * <p>The registry is {@code manifests/dataset_registry.yaml} in durable storage. Its keys are the
 * names of datasets. The versions of a dataset are below its key {@code versions}; an entry that a
 * person wrote may have none.
 */
public final class DatasetRegistry {
  /** The registry's path below the durable tier. */
  public static final String FILE = "manifests/dataset_registry.yaml";

  /** The key with the versions of a dataset. */
  public static final String VERSIONS = "versions";

  /** The largest registry that is read, in bytes: the YAML parser reads no more characters. */
  public static final int MAX_BYTES = 3 << 20;

  private DatasetRegistry() {}

  /**
   * Reads a registry.
   *
   * @param file its name, for positions
   * @param problems receives what is wrong; entries without a problem are returned all the same
   * @return the versions of each dataset, in the order of the file; an empty list for an entry
   *     without versions
   */
  public static Map<String, List<DatasetVersion>> read(
      String file, String text, List<Problem> problems) {
    Map<String, List<DatasetVersion>> datasets = new LinkedHashMap<>();
    if (isBlank(text)) {
      return datasets;
    }
    Optional<YamlNode> node = YamlReader.read(file, text, problems);
    if (node.isPresent() && node.get() instanceof Mapping mapping) {
      mapping
          .entries()
          .forEach((name, entry) -> datasets.put(name, versions(name, entry, problems)));
    } else if (node.isPresent()) {
      problems.add(
          new Problem(
              ErrorCode.CONFIG_WRONG_TYPE,
              node.get().at(),
              "",
              "expected a mapping whose keys are names of datasets, got " + node.get().words()));
    }
    return datasets;
  }

  /** Returns whether the text has nothing but blank lines and comments. */
  public static boolean isBlank(String text) {
    return text.lines().allMatch(line -> line.isBlank() || line.strip().startsWith("#"));
  }

  private static List<DatasetVersion> versions(String name, Entry entry, List<Problem> problems) {
    List<DatasetVersion> versions = new ArrayList<>();
    if (!(entry.value() instanceof Mapping keys) || !keys.entries().containsKey(VERSIONS)) {
      return versions;
    }
    YamlNode below = keys.entries().get(VERSIONS).value();
    String key = name + "." + VERSIONS;
    if (!(below instanceof Mapping mapping)) {
      problems.add(
          new Problem(
              below.at(),
              key,
              "expected versions such as v1 with their keys, got " + below.words()));
      return versions;
    }
    mapping
        .entries()
        .forEach(
            (version, one) -> {
              try {
                if (!(json(one.value()) instanceof JsonObject keysOfOne)) {
                  throw new IllegalArgumentException("expected keys, got " + one.value().words());
                }
                versions.add(new DatasetVersion(name, version, keysOfOne));
              } catch (IllegalArgumentException wrong) {
                problems.add(
                    new Problem(
                        one.keyAt(), key + "." + version, String.valueOf(wrong.getMessage())));
              }
            });
    return versions;
  }

  /** Returns a YAML tree as JSON values: objects, lists, texts, numbers, booleans and null. */
  public static @Nullable Object json(YamlNode node) {
    return node.json(DatasetRegistry::number);
  }

  /** Returns a plain number as a number, and another form of YAML as its text. */
  private static Object number(String text) {
    return text.matches("-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,30})?") ? new BigDecimal(text) : text;
  }

  /**
   * Adds a problem for each of the run's datasets that the policy does not accept. A missing
   * registry registers nothing.
   *
   * @return the versions that the run reads, which the job checks before it starts; empty if the
   *     policy requires nothing, or if the registry's entry has no versions
   */
  public static List<DatasetVersion> require(
      RunConfig config,
      ClusterProfile cluster,
      Policy policy,
      ConfigSource source,
      List<Problem> problems) {
    boolean asked = policy.datasets().registered() || policy.datasets().promoted();
    if (!asked || (config.labels().dataset().isEmpty() && config.array().points().isEmpty())) {
      return List.of();
    }
    String registry = cluster.storage().durable() + "/" + FILE;
    Optional<Found> file = source.optional(registry, MAX_BYTES);
    Map<String, List<DatasetVersion>> known =
        file.isPresent()
            ? read(file.get().name(), file.get().text(), problems)
            : new LinkedHashMap<>();
    List<DatasetVersion> chosen = new ArrayList<>();
    for (Wanted wanted : wanted(config, cluster)) {
      Optional<DatasetVersion> version = version(wanted, known, cluster);
      String wrong = wrong(wanted, version, known, policy, registry, file.isPresent());
      if (!wrong.isEmpty()) {
        problems.add(
            config
                .written()
                .problem(
                    config.written().has("dataset") ? "dataset" : "dataset_path",
                    wrong + "; " + policy.name() + " asks for that (" + rule(policy) + ")"));
      } else if (version.isPresent() && !chosen.contains(version.get())) {
        chosen.add(version.get());
      }
    }
    return chosen;
  }

  /**
   * A dataset that the run reads.
   *
   * @param path its path on the cluster's tiers; empty if the config names none
   */
  private record Wanted(String name, Optional<String> path) {}

  private static Set<Wanted> wanted(RunConfig config, ClusterProfile cluster) {
    Set<Wanted> wanted = new LinkedHashSet<>();
    if (config.labels().dataset().isPresent()) {
      wanted.add(
          new Wanted(
              config.labels().dataset().get(),
              config.training().text("dataset_path").map(cluster.storage()::written)));
    }
    for (JsonObject point : config.array().points()) {
      Optional<String> path = point.optionalText("dataset_path");
      if (path.isPresent()) {
        wanted.add(
            new Wanted(
                Labels.baseName(path.get()), Optional.of(cluster.storage().written(path.get()))));
      }
    }
    return wanted;
  }

  /**
   * Returns the newest promoted version at the path, else the newest version that is not retired.
   */
  private static Optional<DatasetVersion> version(
      Wanted wanted, Map<String, List<DatasetVersion>> known, ClusterProfile cluster) {
    Optional<DatasetVersion> best = Optional.empty();
    if (wanted.path().isEmpty()) {
      return best;
    }
    for (List<DatasetVersion> versions : known.values()) {
      for (DatasetVersion version : versions) {
        boolean fits = covers(version.path(cluster.storage()), wanted.path().get());
        if (fits && (best.isEmpty() || rank(version, wanted) >= rank(best.get(), wanted))) {
          best = Optional.of(version);
        }
      }
    }
    return best;
  }

  private static int rank(DatasetVersion version, Wanted wanted) {
    int named = version.name().equals(wanted.name()) ? 1 : 0;
    return switch (version.status()) {
      case RETIRED -> named;
      case REGISTERED -> 2 + named;
      case PROMOTED -> 4 + named;
    };
  }

  /** Returns whether the registered path is the other path or a folder above it. */
  static boolean covers(String registered, String path) {
    String plain = plain(path);
    boolean climbs = plain.matches("(.*/)?\\.\\.?(/.*)?");
    String known = plain(registered);
    return !climbs && (plain.equals(known) || plain.startsWith(known + "/"));
  }

  private static String plain(String path) {
    return path.replaceAll("/+", "/").replaceAll("/$", "");
  }

  private static String wrong(
      Wanted wanted,
      Optional<DatasetVersion> version,
      Map<String, List<DatasetVersion>> known,
      Policy policy,
      String registry,
      boolean exists) {
    String name = "'" + wanted.name() + "'";
    if (version.isEmpty() && !known.containsKey(wanted.name())) {
      String why = exists ? Nearest.hint(wanted.name(), known.keySet()) : ", which does not exist";
      return "%s is not registered in %s%s".formatted(name, registry, why);
    }
    if (version.isEmpty()) {
      // The name is only a label. An entry that a person wrote has no path to compare.
      boolean byHand =
          known.getOrDefault(wanted.name(), List.of()).isEmpty()
              && wanted.path().map(Labels::baseName).orElse("").equals(wanted.name());
      String path = wanted.path().orElse("of the config, which has no dataset_path");
      return policy.datasets().promoted() || (wanted.path().isPresent() && !byHand)
          ? "%s has no version with the path %s in %s".formatted(name, path, registry)
          : "";
    }
    Status status = version.get().status();
    String reference = version.get().reference();
    if (status == Status.RETIRED) {
      return "'" + reference + "' is retired";
    }
    return policy.datasets().promoted() && status != Status.PROMOTED
        ? "'%1$s' is %2$s, not promoted (`nexa-slurm datasets promote %1$s`)"
            .formatted(reference, status.word())
        : "";
  }

  private static String rule(Policy policy) {
    return policy.datasets().promoted() ? "promoted_datasets" : "registered_datasets";
  }
}
