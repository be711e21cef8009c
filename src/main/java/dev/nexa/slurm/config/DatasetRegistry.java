package dev.nexa.slurm.config;

import dev.nexa.slurm.config.ConfigSource.Found;
import dev.nexa.slurm.error.Nearest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The datasets that may be used where policy asks for registered ones: the keys of {@code
 * manifests/dataset_registry.yaml} in durable storage, the file that the seeds name.
 */
public final class DatasetRegistry {
  private DatasetRegistry() {}

  /** Tells where the config's dataset is not among them. */
  public static void require(
      RunConfig config,
      ClusterProfile cluster,
      Policy policy,
      ConfigSource source,
      List<Problem> problems) {
    if (!policy.registeredDatasets() || config.dataset().isEmpty()) {
      return;
    }
    String dataset = config.dataset().get();
    String path = cluster.storage().durable() + "/manifests/dataset_registry.yaml";
    Optional<Found> file = source.optional(path);
    List<String> names = file.isPresent() ? names(file.get(), problems) : new ArrayList<>();
    if (!names.contains(dataset)) {
      problems.add(
          config
              .written()
              .problem(
                  config.written().has("dataset") ? "dataset" : "dataset_path",
                  "'"
                      + dataset
                      + "' is not registered in "
                      + path
                      + (file.isPresent() ? Nearest.hint(dataset, names) : ", which does not exist")
                      + "; "
                      + policy.name()
                      + " asks for that (registered_datasets)"));
    }
  }

  private static List<String> names(Found file, List<Problem> problems) {
    Optional<YamlNode> node = YamlReader.read(file.name(), file.text(), problems);
    return node.isPresent() && node.get() instanceof YamlNode.Mapping datasets
        ? new ArrayList<>(datasets.entries().keySet())
        : new ArrayList<>();
  }
}
