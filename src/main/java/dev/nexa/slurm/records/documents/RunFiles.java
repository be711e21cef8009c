package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileList;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Which files a stage of a pipeline read and wrote, as {@code runs/<run_id>/files/} keeps it for
 * {@code pipeline run --reuse}.
 */
public enum RunFiles {
  /** Files outside the pipeline, as they were at the submit. */
  READ,
  /** The folder of the output, as it was when the run's records became final. */
  OUTPUT,
  /** The checkpoint that the run names, else the folder of its checkpoints, at the same time. */
  CHECKPOINT;

  /** Kept answers, which may be removed after the run ({@code data.generate}). */
  private static final List<String> JOURNAL = List.of("journal");

  /** Copies of our records beside the checkpoints, which may be written again. */
  private static final List<String> COPIES = List.of("manifest.json", "config.yaml", "logs.json");

  /** Lists what is there now. */
  public FileList now(RunFolder run, PlanFile plan) {
    RunInput paths = RunInput.of("", run.id(), plan, OptionalInt.empty());
    return switch (this) {
      case READ -> FileList.of(outside(plan), List.of());
      case OUTPUT -> FileList.of(List.of(paths.output()), JOURNAL);
      case CHECKPOINT -> {
        Optional<String> named =
            ManifestFile.read(run).checkpoint().filter(path -> path.startsWith("/"));
        yield FileList.of(List.of(named.orElse(paths.checkpoints())), COPIES);
      }
    };
  }

  /** Returns the files outside the pipeline that a plan names: paths and patterns. */
  public static List<String> outside(PlanFile plan) {
    // A path that only the job knows, such as an earlier stage's output, holds a reference.
    return plan.readPaths().stream()
        .filter(path -> path.startsWith("/") && !path.contains("${"))
        .toList();
  }

  /** Keeps a list with the run; an older one is replaced. */
  public void keep(RunFolder run, FileList list) {
    Path file = file(run);
    DurableFiles.onDisk().directories(file.resolveSibling(""));
    DurableFiles.onDisk().replace(file, Json.pretty(list.toJson()));
  }

  /** Returns the list that was kept; empty for a run of no pipeline or of an earlier version. */
  public Optional<FileList> kept(RunFolder run) {
    Path file = file(run);
    return Files.exists(file)
        ? Optional.of(FileList.of(Json.parseObject(DurableFiles.read(file))))
        : Optional.empty();
  }

  private Path file(RunFolder run) {
    return run.path().resolve("files").resolve(name().toLowerCase(Locale.ROOT) + ".json");
  }
}
