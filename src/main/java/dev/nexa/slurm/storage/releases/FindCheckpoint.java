package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.storage.cleanup.Checkpoints;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Finds the final checkpoint of a run: the one that the run reported, or {@code final} in its
 * folder of checkpoints, or that folder itself if the model lies there beside earlier checkpoints.
 */
final class FindCheckpoint {
  private static final String FINAL = "final";

  private FindCheckpoint() {}

  /**
   * Returns the final checkpoint of a run, or of one task.
   *
   * @param task the task; empty for a run with one task
   * @throws NexaException with {@link ErrorCode#MODEL_INVALID} if there is none, or if several
   *     could be it
   */
  static Path of(RunId run, PlanFile plan, ManifestFile manifest, OptionalInt task) {
    Path folder = Path.of(plan.storage().durable(), "checkpoints", run.value());
    Optional<String> reported = manifest.checkpoint();
    if (plan.tasks() > 1) {
      if (task.isEmpty()) {
        throw ModelSource.invalid(
            run + " has " + plan.tasks() + " tasks, and each has a model of its own",
            Advice.step("name one task as JOB_INDEX, such as 12345_0, or: --checkpoint DIR"));
      }
      folder = folder.resolve("task_" + task.getAsInt());
      reported =
          manifest.points().stream()
              .filter(point -> point.task() == task.getAsInt())
              .findFirst()
              .flatMap(point -> text(point.metrics().members().get("checkpoint")));
    }
    Path at = reported.map(Path::of).orElse(folder);
    if (!Files.exists(at)) {
      throw ModelSource.invalid(
          reported.isPresent()
              ? "the checkpoint that " + run + " reported does not exist: " + at
              : run + " reported no checkpoint, and its folder " + at + " does not exist",
          Advice.step("name the model's folder: --checkpoint DIR"));
    }
    return inside(at);
  }

  private static Optional<String> text(@Nullable Object value) {
    return value instanceof String text ? Optional.of(text) : Optional.empty();
  }

  /** A runner that reports nothing leaves its model below the folder of all checkpoints. */
  private static Path inside(Path at) {
    if (!Files.isDirectory(at)) {
      return at;
    }
    List<Path> entries = entries(at);
    for (Path entry : entries) {
      String name = entry.getFileName().toString();
      boolean isFinal = name.equals(FINAL) || name.startsWith(FINAL + ".");
      if (isFinal && (Files.isRegularFile(entry) || !entries(entry).isEmpty())) {
        return entry;
      }
    }
    boolean own = entries.stream().anyMatch(Files::isRegularFile);
    List<String> checkpoints =
        entries.stream()
            .map(entry -> entry.getFileName().toString())
            .filter(Checkpoints::isCheckpoint)
            .toList();
    if (!own && !checkpoints.isEmpty()) {
      throw ModelSource.invalid(
          at
              + " holds the checkpoints "
              + String.join(", ", checkpoints.subList(0, Math.min(5, checkpoints.size())))
              + " and no final model",
          Advice.step("choose one: --checkpoint " + at.resolve(checkpoints.get(0))));
    }
    return at;
  }

  private static List<Path> entries(Path folder) {
    return Files.isDirectory(folder) ? DurableFiles.list(folder, "*") : List.of();
  }
}
