package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Writes down what was forced to the disk, in order and with what it held then; or fails there, as
 * a full disk does.
 */
public final class FakeSync implements Sync {
  private final List<String> forced = new ArrayList<>();
  private Optional<Path> broken = Optional.empty();

  @Override
  public void force(Path path) throws IOException {
    if (broken.isPresent() && path.startsWith(broken.get())) {
      throw new IOException("No space left on device");
    }
    forced.add(Files.isDirectory(path) ? path + "/" : Files.readString(path));
  }

  /** From now on whatever lies at or below the path can't be forced. */
  void breakAt(Path path) {
    broken = Optional.of(path);
  }

  /** A file's content when it was forced, or a directory's path with a slash at its end. */
  List<String> forced() {
    return forced;
  }
}
