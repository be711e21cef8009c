package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.job.plan.Plan;
import java.util.Optional;

/**
 * The properties that runs are compared by.
 *
 * @param backend the backend as the user wrote it
 * @param gpuType the type of the charged GPUs; empty for a job on CPUs
 * @param experiment the config's {@code name}; empty if it has none
 */
public record RunSimilarity(
    String stage,
    Optional<String> backend,
    Optional<String> model,
    Optional<String> gpuType,
    Optional<String> experiment,
    Optional<String> dataset,
    Optional<String> cluster) {

  /** How many properties two runs must share, from most to fewest. */
  enum Level {
    ALL("stage, backend, model, GPU type, name, dataset and cluster"),
    GPU_TYPE("stage, backend, model and GPU type"),
    MODEL("stage, backend and model, on any GPU by its price");

    private final String words;

    Level(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }
  }

  /** Returns the properties of a plan. */
  public static RunSimilarity of(Plan plan) {
    String title = plan.title();
    return new RunSimilarity(
        plan.stage(),
        Optional.of(plan.backend()),
        plan.model(),
        plan.billed().gpus() > 0 ? plan.billed().gpuType() : Optional.empty(),
        title.equals(plan.stage()) ? Optional.empty() : Optional.of(title),
        plan.inputs().dataset(),
        Optional.of(plan.site().cluster()));
  }

  boolean isLike(RunSimilarity other, Level level) {
    boolean like =
        stage.equals(other.stage) && backend.equals(other.backend) && model.equals(other.model);
    return switch (level) {
      case MODEL -> like;
      case GPU_TYPE -> like && gpuType.equals(other.gpuType);
      case ALL ->
          like
              && gpuType.equals(other.gpuType)
              && experiment.equals(other.experiment)
              && dataset.equals(other.dataset)
              && cluster.equals(other.cluster);
    };
  }
}
