package dev.nexa.slurm.job.config;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks that a run's dataset is registered, if the policy requires it ({@code
 * registered_datasets}).
 *
 * <p>The registry is {@code manifests/dataset_registry.yaml} in durable storage; its keys are the
 * names of the registered datasets.
 */
public final class DatasetRegistry {
  private DatasetRegistry() {}

  /**
   * Adds a problem if the policy requires registered datasets and the config's dataset is not one.
   * A missing registry registers nothing.
   */
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
