package dev.nexa.slurm.base.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Files on the disk, whose writer tells which step it has passed. */
public final class Steps {
  private Steps() {}

  /** Returns files that tell each step. */
  public static DurableFiles told(Consumer<Enum<?>> passing) {
    return new DurableFiles(
        new Sync() {
          @Override
          public void force(Path path) throws IOException {
            Sync.DISK.force(path);
          }

          @Override
          public void passed(Enum<?> step) {
            passing.accept(step);
          }
        });
  }
}
