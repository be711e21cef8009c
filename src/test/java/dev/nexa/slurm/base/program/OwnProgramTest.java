package dev.nexa.slurm.base.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program that is laid out for nodes runs, and is known by its digests. */
class OwnProgramTest {
  @TempDir Path folder;

  @Test
  void theProgramThatIsLaidOutRuns() throws IOException, InterruptedException {
    List<ProgramFile> files = OwnProgram.files();
    assertThat(OwnProgram.files().get(0).sha256()).isEqualTo(files.get(0).sha256());
    for (ProgramFile file : files) {
      file.layIn(folder, DurableFiles.onDisk());
      file.layIn(folder, DurableFiles.onDisk());
    }

    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                folder.resolve(OwnProgram.JAR).toString(),
                "--version")
            .redirectErrorStream(true)
            .start();

    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).startsWith("nexa-slurm ");
  }

  @Test
  void aChangedFileIsRefused() throws IOException {
    ProgramFile driver = DuckDb.files().get(0);
    driver.layIn(folder, DurableFiles.onDisk());
    Path file = folder.resolve(driver.name());
    Files.delete(file);
    Files.writeString(file, "x");

    assertThatThrownBy(() -> driver.layIn(folder, DurableFiles.onDisk()))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining(file + " was changed");
  }
}
