package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.text.VisibleText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Finds what of a model was written after its evaluation had begun, by the times of files and
 * links. A time that somebody set back is not found.
 */
final class WrittenLater {
  /** Nodes and file servers have clocks of their own. */
  private static final Duration CLOCKS = Duration.ofMinutes(1);

  private WrittenLater() {}

  /**
   * Returns a sentence about the first such file or link; empty if there is none.
   *
   * @param checkpoint the model's folder or file as it was named, with its links
   * @param model its files
   * @param began when the evaluation began to read the model
   */
  static Optional<String> of(Path checkpoint, ModelSource model, Instant began) {
    Instant latest = began.plus(CLOCKS);
    for (Path at = checkpoint.toAbsolutePath().normalize(); at != null; at = at.getParent()) {
      if (Files.isSymbolicLink(at) && written(at).isAfter(latest)) {
        return Optional.of("the link " + sentence(at));
      }
    }
    for (String path : model.files().keySet()) {
      String below = path.substring(path.indexOf('/') + 1);
      Path file = model.root().resolve(below);
      // For a link, the file that it leads to may be older.
      Path entry = Files.exists(file, LinkOption.NOFOLLOW_LINKS) ? file : model.root();
      for (Path one : new Path[] {entry, model.files().get(path)}) {
        if (written(one).isAfter(latest)) {
          return Optional.of(sentence(one));
        }
      }
    }
    return Optional.empty();
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
