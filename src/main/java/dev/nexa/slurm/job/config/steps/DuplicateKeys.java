package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.ValueType;
import java.util.List;

/** The sections {@code data.buckets} and {@code data.clusters}. */
final class DuplicateKeys {
  /** The bands of the signatures, {@code data.prepare.NearDuplicates}. */
  private static final int BANDS = 14;

  private static final List<DataStep.PathKey> PATHS =
      List.of(new DataStep.PathKey("", "input", "--input"));

  static final DataStep BUCKETS =
      new DataStep(
          "buckets",
          "Finds the pairs of similar rows, for near duplicates in an array of prepare.",
          section(
              required(
                  "input",
                  listOf(ValueType.PATH),
                  "The output of the stage of prepare with `signatures: true`.")),
          PATHS,
          (step, tasks) -> {
            if (tasks > BANDS) {
              String message = "has %1$s bands, so array.shards is at most %1$s, not %2$s";
              step.report("", message.formatted(BANDS, tasks));
            }
          });

  static final DataStep CLUSTERS =
      new DataStep(
          "clusters",
          "Joins the pairs to clusters, for near duplicates in an array of prepare.",
          section(
              required(
                  "input", listOf(ValueType.PATH), "The output of the stage with data.buckets.")),
          PATHS,
          (step, tasks) -> CollectKeys.one(step, "clusters", tasks));

  private DuplicateKeys() {}
}
