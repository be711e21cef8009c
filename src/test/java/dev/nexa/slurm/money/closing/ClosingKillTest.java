package dev.nexa.slurm.money.closing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that dies at any fsync of a closing leaves the month closed whole, or not closed. */
class ClosingKillTest {
  private static final int KILLED = 137;

  @TempDir Path folder;

  @Test
  void aDeathAtEachStepLeavesNoHalfMonth() throws Exception {
    int steps = 0;
    int closed = 0;
    for (int step = 1; ; step++) {
      Path root = workspace("" + step);
      Process process = start(root, step);
      int exit = ended(process);
      Statements statements = new Statements(new Workspace(root, DurableFiles.onDisk()));
      boolean there = statements.closed().contains(CrashingClosing.MONTH);
      if (exit == KILLED) {
        steps++;
        closed += there ? 1 : 0;
      }
      if (there) {
        assertThat(statements.read(CrashingClosing.MONTH).statement().month())
            .isEqualTo(CrashingClosing.MONTH);
      }
      assertThat(CrashingClosing.close(root, Sync.DISK)).isEqualTo(!there);
      assertThat(statements.read(CrashingClosing.MONTH).statement().runs()).isEmpty();
      if (exit == 0) {
        break;
      }
      assertThat(exit).isEqualTo(KILLED);
    }
    assertThat(steps).isGreaterThanOrEqualTo(4);
    assertThat(closed).as("a death behind the last step").isLessThan(steps);
  }

  @Test
  void oneOfTwoClosersAtOnceCloses() throws Exception {
    Path root = workspace("two");

    Process one = start(root, 0);
    Process other = start(root, 0);

    List<String> said = new ArrayList<>();
    for (Process process : List.of(one, other)) {
      String line =
          new String(
              process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      assertThat(ended(process)).as(line).isZero();
      said.add(line.strip());
    }
    assertThat(said).containsExactlyInAnyOrder("closed", "was closed");
  }

  private Path workspace(String name) throws IOException {
    Path root = folder.resolve(name);
    Files.createDirectories(root.resolve("runs"));
    return root;
  }

  private static Process start(Path root, int step) throws IOException {
    return new ProcessBuilder(OwnJvm.words(CrashingClosing.class, root.toString(), "" + step))
        .redirectErrorStream(true)
        .start();
  }

  private static int ended(Process process) throws InterruptedException {
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }
}
