package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;

import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The model that a run trains or serves.
 *
 * @param training the training keys that the config sets
 * @param workload facts that only estimates use; empty if the key {@code estimate} is missing
 */
public record ModelKeys(Training training, Serving serving, Optional<Workload> workload) {
  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.addAll(Training.KEYS.keys());
    keys.addAll(Serving.KEYS.keys());
    keys.add(
        optional(
            "estimate",
            Workload.KEYS,
            "Facts for estimates that the other keys do not give. They change nothing that runs; an estimate reads those that its kind of run needs."));
    return keys;
  }

  static ModelKeys from(Values values, Training training) {
    return new ModelKeys(
        training,
        Serving.from(values),
        values.has("estimate")
            ? Optional.of(Workload.from(values.section("estimate")))
            : Optional.empty());
  }
}
