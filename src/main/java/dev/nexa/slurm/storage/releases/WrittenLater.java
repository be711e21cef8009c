package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
    try {
      return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }
}
