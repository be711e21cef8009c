package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * The folders of {@code @TempDir} (junit-platform.properties): they are deleted when the last
 * process of a job has left them. A cancelled job writes there for a few seconds, and JUnit's own
 * deletion then fails a test that has passed.
 */
public final class PatientTempDirs implements TempDirFactory {
  /**
   * It would say of each folder that JUnit leaves it. Loggers without a reference are collected.
   */
  private static final Logger LOGGER = Logger.getLogger("org.junit.jupiter.engine.extension");

  private static final int TRIES = 150;

  static {
    LOGGER.setLevel(Level.WARNING);
  }

  private Path folder = Path.of("");

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
      throws IOException {
    folder = Files.createTempDirectory("junit-");
    return folder;
  }

  @Override
  public void close() {
    for (int tries = 1; Files.exists(folder); tries++) {
      try {
        Tree.delete(folder);
      } catch (UncheckedIOException written) {
        if (tries == TRIES) {
          throw written;
        }
        LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
      }
    }
  }
}
