package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.text.VisibleText;
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
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
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
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Finds what of a model is not what its evaluation read.
 *
 * <p>The evaluation's jobs noted the SHA-256 of each file. A file that has changed since is read
 * and compared. Jobs of earlier versions noted nothing: then the times of files and links decide,
 * and a time that somebody set back is not found.
 */
final class WrittenLater {
  /** Nodes and file servers have clocks of their own. */
  private static final Duration CLOCKS = Duration.ofMinutes(1);

  private WrittenLater() {}

  /**
   * Returns what is wrong with the first such file or link; empty if there is none.
   *
   * @param checkpoint the model's folder or file as it was named, with its links
   * @param model its files
   * @param evaluation the run that evaluated it, or that read such a run's output
   * @param inputs what the evaluation was made of
   */
  static Optional<String> of(
      Path checkpoint, ModelSource model, RunId evaluation, EvaluationInputs inputs) {
    Optional<Instant> began = inputs.began(evaluation, model.root());
    Map<Path, Set<String>> noted = inputs.noted(evaluation, model.root());
    if (began.isEmpty()) {
      return Optional.empty();
    }
    return noted.isEmpty()
        ? byTimes(checkpoint, model, began.get().plus(CLOCKS))
            .map(it -> it + ", after the evaluation " + evaluation + " began at " + began.get())
        : byContent(model, began.get().minus(CLOCKS), noted)
            .map(it -> it + " since the evaluation " + evaluation + " read it");
  }

  private static Optional<String> byContent(
      ModelSource model, Instant began, Map<Path, Set<String>> noted) {
    for (Path gone : noted.keySet()) {
      if (!Files.exists(gone) && ModelSource.isPacked(model.root().relativize(gone))) {
        return Optional.of(VisibleText.line(gone.toString()) + " was removed");
      }
    }
    for (String path : model.files().keySet()) {
      Path file = entry(model, path);
      Set<String> digests = noted.getOrDefault(file, Set.of());
      if (digests.isEmpty()) {
        return Optional.of(VisibleText.line(file.toString()) + " was added");
      } else if (digests.size() > 1 || isOther(model.files().get(path), began, digests)) {
        return Optional.of(VisibleText.line(file.toString()) + " was changed");
      }
    }
    return Optional.empty();
  }

  /** Only who owns the machine can set the time at which a file's content or name changed back. */
  private static boolean isOther(Path file, Instant began, Set<String> digests) {
    try {
      Path real = file.toRealPath();
      FileTime changed = (FileTime) Files.getAttribute(real, "unix:ctime");
      return changed.toInstant().isAfter(began) && !digests.contains(Sha256.of(real));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  private static Optional<String> byTimes(Path checkpoint, ModelSource model, Instant latest) {
    for (Path at = checkpoint.toAbsolutePath().normalize(); at != null; at = at.getParent()) {
      if (Files.isSymbolicLink(at) && written(at).isAfter(latest)) {
        return Optional.of("the link " + sentence(at));
      }
    }
    for (String path : model.files().keySet()) {
      // For a link, the file that it leads to may be older.
      for (Path one : new Path[] {entry(model, path), model.files().get(path)}) {
        if (written(one).isAfter(latest)) {
          return Optional.of(sentence(one));
        }
      }
    }
    return Optional.empty();
  }

  /** Returns the file or link of the model's folder that has this path in a release. */
  private static Path entry(ModelSource model, String path) {
    Path file = model.root().resolve(path.substring(path.indexOf('/') + 1));
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS) ? file : model.root();
  }

  private static String sentence(Path file) {
    return VisibleText.line(file.toString()) + " was written at " + written(file);
  }

  private static Instant written(Path file) {
    return DurableFiles.attempt(
        "read", file, () -> Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant());
  }

  /**
   * The runs that an evaluation was made of, found backward from input to input, as the runs' links
   * and the paths in their plans say. A damaged run has no inputs.
   *
   * @param run the run whose model is asked about; the search goes no further back
   */
  record EvaluationInputs(Workspace workspace, RunId run) {
    private static final String STEM = "science_eval_";

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
          ProvenFiles.of(folder).plan().readPaths().forEach(path -> inputs.addAll(runsIn(path)));
        }
      } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
        return inputs;
      }
      return inputs;
    }

    private boolean hasCheckpoint(RunId id) {
      return undamaged(
              () ->
                  Optional.of(workspace.run(id))
                      .filter(folder -> Files.exists(folder.manifest()))
                      .flatMap(folder -> ManifestFile.read(folder).checkpoint()))
          .isPresent();
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
     * If no plan names the model, the first start after the model's run was over. Empty if no run
     * of the evaluation has a start.
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
        workspace
            .run(id)
            .modelsRead()
            .forEach((file, all) -> noted.computeIfAbsent(file, it -> new TreeSet<>()).addAll(all));
      }
      noted.keySet().removeIf(file -> !file.startsWith(model));
      return noted;
    }

    private Stream<Instant> starts(Stream<RunId> runs) {
      return runs.flatMap(id -> manifest(id).flatMap(ManifestFile::started).stream());
    }

    private Optional<ManifestFile> manifest(RunId id) {
      return undamaged(() -> FinalManifest.of(workspace.run(id)));
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
      return undamaged(
          () ->
              Optional.of(workspace.run(id))
                  .filter(folder -> Files.exists(folder.plan()))
                  .map(folder -> ProvenFiles.of(folder).plan()));
    }

    /** Returns what is read; empty if the run's files are damaged. */
    static <T> Optional<T> undamaged(Supplier<Optional<T>> read) {
      try {
        return read.get();
      } catch (NexaException | UncheckedIOException | IllegalArgumentException damaged) {
        return Optional.empty();
      }
    }
  }
}
