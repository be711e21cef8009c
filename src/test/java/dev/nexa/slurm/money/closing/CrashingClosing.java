package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A process that closes a month, and dies at a chosen fsync. */
final class CrashingClosing {
  static final YearMonth MONTH = YearMonth.of(2025, 10);

  private CrashingClosing() {}

  /** Arguments: the workspace, and the number of the fsync at which to die; 0 for none. */
  public static void main(String[] arguments) {
    int[] left = {Integer.parseInt(arguments[1])};
    Sync sync =
        new Sync() {
          @Override
          public void force(Path path) throws IOException {
            die();
            Sync.DISK.force(path);
          }

          @Override
          public void force(FileChannel open, Path file) throws IOException {
            die();
            open.force(true);
          }

          private void die() {
            if (--left[0] == 0) {
              Runtime.getRuntime().halt(137);
            }
          }
        };
    System.out.println(close(Path.of(arguments[0]), sync) ? "closed" : "was closed");
  }

  static boolean close(Path root, Sync sync) {
    Statements statements = new Statements(new Workspace(root, new DurableFiles(sync)));
    try (FileLock held = statements.lock()) {
      if (!held.holds() || statements.closed().contains(MONTH)) {
        return false;
      }
      Statement statement =
          new Statement(
              MONTH,
              MONTH,
              Optional.empty(),
              List.of(),
              List.of(),
              List.of(),
              List.of(),
              Map.of(),
              List.of());
      return statements.write(
          statement,
          new ClosingSignature(
              MONTH,
              Sha256.of(statement.text()),
              Instant.parse("2025-11-01T00:00:00Z"),
              "fay",
              "fay@site",
              "login1",
              "signature"));
    }
  }
}
