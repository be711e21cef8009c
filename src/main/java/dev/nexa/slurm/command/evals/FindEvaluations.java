package dev.nexa.slurm.command.evals;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.data.score.EvalSummary;
import dev.nexa.slurm.data.score.ScoreStep;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the summaries of evaluations: in manifests, or in a folder of evaluations. */
final class FindEvaluations {
  private FindEvaluations() {}

  /**
   * Returns the summaries in the manifests of all runs. {@code data score} leaves them among a
   * run's metrics.
   *
   * @param problems receives a line for each file that cannot be read
   */
  static List<EvalSummary> inManifests(Workspace workspace, List<String> problems) {
    List<EvalSummary> found = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (Files.exists(run.manifest())) {
        try {
          summary(run).ifPresent(found::add);
        } catch (NexaException | UncheckedIOException broken) {
          problems.add(String.valueOf(broken.getMessage()));
        }
      }
    }
    return found;
  }

  private static Optional<EvalSummary> summary(RunFolder run) {
    return RunRecordFile.manifest(run, ManifestFile::metrics)
        .optionalObject("evaluation")
        .map(json -> summary(run, json));
  }

  private static EvalSummary summary(RunFolder run, JsonObject json) {
    try {
      return EvalSummary.of(json);
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          dev.nexa.slurm.base.error.ErrorCode.EVALUATION_UNUSABLE,
          run.manifest() + ": metrics.evaluation: " + broken.getMessage());
    }
  }

  /**
   * Returns the summaries {@code science_eval_*.json} of a folder.
   *
   * @param problems receives a line for each file that cannot be read
   * @throws UncheckedIOException if the folder cannot be read
   */
  static List<EvalSummary> inFolder(Path folder, List<String> problems) {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, ScoreStep.STEM + "*.json")) {
      all.forEach(files::add);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    List<EvalSummary> found = new ArrayList<>();
    for (Path file : files) {
      try {
        found.add(EvalSummary.read(file));
      } catch (NexaException | UncheckedIOException broken) {
        problems.add(String.valueOf(broken.getMessage()));
      }
    }
    return found;
  }
}
