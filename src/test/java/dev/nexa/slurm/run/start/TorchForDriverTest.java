package dev.nexa.slurm.run.start;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The torch's version.py is as its wheels have it; the drivers are as templates/lib/diag.sh says.
 */
class TorchForDriverTest {
  private static final String DRIVER = "%s\tdriver\t%s\tnew\t==new\t-\t0.1\t%s\n";

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "cuda: Optional[str] = '13.0' | 550.54.15 on g1, 470.82.01 on g2 | 580",
        "cuda = '12.4'                | 470.82.01 on g2                  | 525",
        "cuda = '11.8'                |                                  |",
        "cuda: Optional[str] = None   |                                  |",
        "hip = '6.2.41133'            |                                  |",
      })
  void anOldDriverIsNamed(String line, String found, String oldest) throws IOException {
    torch(line);
    found("diag_20261101_120000", DRIVER.formatted("g1", "ok", "390.1.1"));
    found(
        "diag_20261102_120000",
        DRIVER.formatted("g1", "ok", "550.54.15")
            + DRIVER.formatted("g2", "critical", "the driver is 470.82.01, 550 needed"));

    assertThat(note().orElse(null))
        .isEqualTo(
            found == null
                ? null
                : "note: the torch of %s is built for CUDA %s, which needs an NVIDIA driver of %s or newer; diag found %s"
                    .formatted(folder.resolve("venv"), line.split("'", -1)[1], oldest, found));
  }

  @Test
  void nothingIsKnown() throws IOException {
    assertThat(note()).isEmpty();
    torch("cuda = '13.0'");
    assertThat(note()).isEmpty();
    found("diag_20261101_120000", "g1\tdriver\tunknown\t-\t==new\t-\t0.1\tno nvidia-smi\n");
    assertThat(note()).isEmpty();
  }

  /** As uv does with --link-mode=symlink. */
  @Test
  void theFileMayBeALinkAndAFolderStopsNoSubmit() throws IOException {
    torch("cuda = '13.0'");
    found("diag_20261101_120000", DRIVER.formatted("g1", "ok", "550.54.15"));
    Path version = folder.resolve("venv/lib/python3.11/site-packages/torch/version.py");
    Path cached = Files.move(version, folder.resolve("cached.py"));
    Files.createSymbolicLink(version, cached);
    assertThat(note().orElseThrow()).endsWith("diag found 550.54.15 on g1");

    Files.delete(version);
    Files.createDirectory(version);
    assertThat(note().orElseThrow())
        .startsWith("note: the torch of " + folder.resolve("venv") + " was not compared");
  }

  private Optional<String> note() {
    return TorchForDriver.note(
        new Workspace(folder, DurableFiles.onDisk()), folder.resolve("venv"));
  }

  private void torch(String line) throws IOException {
    Path torch = folder.resolve("venv/lib/python3.11/site-packages/torch");
    Files.createDirectories(torch);
    Files.writeString(torch.resolve("version.py"), "__version__ = '2.5.1'\n" + line + "\n");
  }

  private void found(String run, String lines) throws IOException {
    Path results = folder.resolve("runs/" + run + "/submissions/1/results");
    Files.createDirectories(results);
    Files.writeString(results.resolve("t0-j7-0-n1.diag.tsv"), lines);
  }
}
