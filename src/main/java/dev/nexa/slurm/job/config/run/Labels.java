package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;

import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;

/**
 * The names and words that identify a run in reports.
 *
 * @param name the experiment's name; empty if the config gives none
 * @param dataset the dataset's name: the key {@code dataset}, else the last part of {@code
 *     dataset_path}
 * @param tags words of the user
 */
public record Labels(Optional<String> name, Optional<String> dataset, List<String> tags) {
  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    return List.of(
        optional(
            "name",
            ValueType.NAME_WORD,
            "The experiment's name, also for reports. It becomes the tag `experiment:NAME`."),
        optional(
            "dataset",
            ValueType.DATASET_NAME,
            "The dataset's name, for reports. Default: the last part of dataset_path."),
        optional(
            "tags",
            listOf(ValueType.TEXT),
            "Words of your own for reports: the manifest keeps them, so that you can find runs by them."));
  }

  static Labels from(Values values, Training training) {
    return new Labels(values.optionalText("name"), dataset(values, training), values.texts("tags"));
  }

  private static Optional<String> dataset(Values values, Training training) {
    Optional<String> path = training.text("dataset_path");
    return values.has("dataset") || path.isEmpty() || path.get().startsWith("${stages.")
        ? values.optionalText("dataset")
        : Optional.of(baseName(path.get()));
  }

  static String baseName(String path) {
    int end = path.length();
    while (end > 0 && path.charAt(end - 1) == '/') {
      end--;
    }
    // Not with a pattern: "^.*/" takes quadratic time on a long name.
    String last = path.substring(path.lastIndexOf('/', end - 1) + 1, end);
    int dot = last.lastIndexOf('.');
    return dot > 0 ? last.substring(0, dot) : last;
  }
}
