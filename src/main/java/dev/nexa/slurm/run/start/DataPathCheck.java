package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.plan.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Looks for the data of a run before it is submitted. Nodes may see files that this host lacks. */
public final class DataPathCheck {
  /** A folder with more files is not read to the end for a suggestion. */
  private static final int MOST_NAMES = 1000;

  private DataPathCheck() {}

  /**
   * Returns a sentence about a {@code dataset_path} that is probably wrong: its folder is on this
   * host and the file is not, or it is the relative path of a file. Empty if the path cannot be
   * judged: a relative path may be a name of the Hugging Face hub.
   */
  public static Optional<String> of(Plan plan) {
    Optional<String> typed = plan.training().text("dataset_path");
    if (typed.isEmpty() || typed.get().contains("${stages.")) {
      return Optional.empty();
    }
    Path path = Path.of(plan.atTiers(typed.get()));
    if (!path.isAbsolute()) {
      return relative(path, plan.environment().workdir());
    }
    Path folder = path.getParent();
    if (folder == null || Files.exists(path) || !Files.isDirectory(folder)) {
      return Optional.empty();
    }
    return Optional.of(
        "dataset_path: there is no %s on this host, though the folder is there%s"
            .formatted(path, Nearest.hint(String.valueOf(path.getFileName()), names(folder))));
  }

  private static Optional<String> relative(Path path, Optional<String> workdir) {
    boolean file = path.toString().matches("\\.\\.?/.*|.*\\.(jsonl?|parquet|csv|tsv|txt|arrow)");
    boolean found = workdir.isPresent() && Files.exists(Path.of(workdir.get()).resolve(path));
    if (!file || found) {
      return Optional.empty();
    }
    Path here = path.toAbsolutePath().normalize();
    return Optional.of(
        "dataset_path: "
            + path
            + " is a relative path: the program looks for it in "
            + workdir
                .map(folder -> folder + " (workdir), and it is not there")
                .orElse("the job's folder, not in yours")
            + (Files.exists(here) ? "; write " + here : "; write the whole path"));
  }

  private static List<String> names(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.limit(MOST_NAMES).map(file -> String.valueOf(file.getFileName())).toList();
    } catch (IOException unreadable) {
      // Then there is no suggestion.
      return List.of();
    }
  }
}
