package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.FinalManifest;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The runs that an evaluation was made of, found backward from input to input, as the runs' links
 * and the paths in their plans say. A damaged run has no inputs.
 */
final class EvaluationInputs {
  private static final String STEM = "science_eval_";

  private final Workspace workspace;
  private final RunId run;

  /**
   * Makes the reader.
   *
   * @param run the run whose model is asked about; the search goes no further back
   */
  EvaluationInputs(Workspace workspace, RunId run) {
    this.workspace = workspace;
    this.run = run;
  }

  /** Returns the nearest runs with a checkpoint, backward along the inputs. */
  Set<RunId> models(RunId evaluation) {
    Set<RunId> models = new HashSet<>();
    Set<RunId> seen = new HashSet<>(Set.of(evaluation));
    Deque<RunId> waiting = new ArrayDeque<>(List.of(evaluation));
    while (!waiting.isEmpty()) {
      for (RunId earlier : of(waiting.remove())) {
        if (seen.add(earlier)) {
          if (earlier.equals(run) || hasCheckpoint(earlier)) {
            models.add(earlier);
          } else {
            waiting.add(earlier);
          }
        }
      }
    }
    return models;
  }

  /** Returns the runs whose files a run reads, as its links and the paths in its plan say. */
  Set<RunId> of(RunId id) {
    Set<RunId> inputs = new LinkedHashSet<>();
    RunFolder folder = workspace.run(id);
    try {
      folder.inputs().stream().map(RunInput::run).forEach(inputs::add);
      if (Files.exists(folder.plan())) {
        for (String path : ProvenFiles.of(folder).plan().readPaths()) {
          inputs.addAll(runsIn(path));
        }
      }
    } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
      return inputs;
    }
    return inputs;
  }

  private boolean hasCheckpoint(RunId id) {
    try {
      RunFolder folder = workspace.run(id);
      return Files.exists(folder.manifest()) && ManifestFile.read(folder).checkpoint().isPresent();
    } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
      return false;
    }
  }

  /**
   * Returns whether the evaluation's run, or one of those whose files it reads, reads this model.
   *
   * @param model the folder or file, with all links resolved
   */
  boolean reads(RunId evaluation, Path model) {
    return chain(evaluation).stream().anyMatch(id -> isReader(id, model));
  }

  /**
   * Returns when the work on an evaluation began: the start of the first run that read the model.
   * If no plan names the model, the first start after the model's run was over. Empty if no run of
   * the evaluation has a start.
   *
   * @param model the folder or file, with all links resolved
   */
  Optional<Instant> began(RunId evaluation, Path model) {
    Set<RunId> chain = chain(evaluation);
    Instant over = manifest(run).flatMap(ManifestFile::ended).orElse(Instant.MIN);
    return starts(chain.stream().filter(id -> isReader(id, model)))
        .min(Comparator.naturalOrder())
        .or(
            () ->
                starts(chain.stream())
                    .filter(start -> !start.isBefore(over))
                    .min(Comparator.naturalOrder()));
  }

  /**
   * Returns the files that the evaluation's run, and those whose files it reads, noted of this
   * model, with their SHA-256. Empty if they noted nothing.
   *
   * @param model the folder or file, with all links resolved
   */
  Map<Path, Set<String>> noted(RunId evaluation, Path model) {
    Map<Path, Set<String>> noted = new TreeMap<>();
    for (RunId id : chain(evaluation)) {
      for (Map.Entry<Path, Set<String>> file : workspace.run(id).modelsRead().entrySet()) {
        if (file.getKey().startsWith(model)) {
          noted.computeIfAbsent(file.getKey(), it -> new TreeSet<>()).addAll(file.getValue());
        }
      }
    }
    return noted;
  }

  private Stream<Instant> starts(Stream<RunId> runs) {
    return runs.flatMap(id -> manifest(id).flatMap(ManifestFile::started).stream());
  }

  private Optional<ManifestFile> manifest(RunId id) {
    try {
      return FinalManifest.of(workspace.run(id));
    } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
      return Optional.empty();
    }
  }

  /** Returns the evaluation and all runs whose files it was made of, back to the model's run. */
  private Set<RunId> chain(RunId evaluation) {
    Set<RunId> seen = new LinkedHashSet<>(Set.of(evaluation));
    Deque<RunId> waiting = new ArrayDeque<>(seen);
    while (!waiting.isEmpty()) {
      for (RunId input : of(waiting.remove())) {
        if (!input.equals(run) && seen.add(input)) {
          waiting.add(input);
        }
      }
    }
    return seen;
  }

  private boolean isReader(RunId id, Path model) {
    return plan(id).stream()
        .flatMap(plan -> plan.readPaths().stream())
        .anyMatch(path -> isSame(path, model));
  }

  private static boolean isSame(String path, Path model) {
    try {
      Path read = Path.of(path);
      return read.equals(model) || read.toRealPath().equals(model);
    } catch (IOException | InvalidPathException hubName) {
      return false;
    }
  }

  /** Returns the runs that the parts of a path name, such as {@code science_eval_RUN.parquet}. */
  static Set<RunId> runsIn(String path) {
    Set<RunId> runs = new LinkedHashSet<>();
    for (String part : path.split("/", -1)) {
      String name = part.startsWith(STEM) ? part.substring(STEM.length()) : part;
      int dot = name.indexOf('.');
      RunId.parse(dot < 0 ? name : name.substring(0, dot)).ifPresent(runs::add);
    }
    return runs;
  }

  /** Returns the plan of a run; empty if there is none, or if it is not what was submitted. */
  Optional<PlanFile> plan(RunId id) {
    try {
      RunFolder folder = workspace.run(id);
      return Files.exists(folder.plan())
          ? Optional.of(ProvenFiles.of(folder).plan())
          : Optional.empty();
    } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
      return Optional.empty();
    }
  }
}
