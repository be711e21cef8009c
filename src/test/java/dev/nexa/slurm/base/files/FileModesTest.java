package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rights that a folder gives to its group, by the folder's mode. */
class FileModesTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "3770, 640, 440, 600, 3750",
    "3775, 644, 440, 600, 3755",
    "3750, 640, 440, 600, 3750",
    "2775, 664, 400, 600, 2775",
  })
  void aFoldersModeDecidesWhatItsGroupMayDo(
      String mode, String usual, String readOnly, String secret, String below) throws IOException {
    Files.setAttribute(folder, "unix:mode", Integer.parseInt(mode, 8));
    DurableFiles files = DurableFiles.onDisk();
    files.replace(folder.resolve("usual"), "x");
    files.append(folder.resolve("appended"), "x");
    files.create(folder.resolve("read_only"), new byte[0], "r--------");
    files.create(folder.resolve("secret"), new byte[0], "rw-------");
    files.directories(folder.resolve("below"));

    assertThat(mode("usual")).isEqualTo(usual);
    assertThat(mode("appended")).isEqualTo(usual);
    assertThat(mode("read_only")).isEqualTo(readOnly);
    assertThat(mode("secret")).isEqualTo(secret);
    assertThat(mode("below")).isEqualTo(below);
  }

  @Test
  void nothingIsAppendedThroughALinkAmongOthersFiles() throws IOException {
    Path target = Files.writeString(folder.resolve("target"), "kept");
    Files.createSymbolicLink(folder.resolve("link"), target);
    Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("nothing"));
    Files.setAttribute(folder, "unix:mode", 03770);
    DurableFiles files = DurableFiles.onDisk();

    assertThatThrownBy(() -> files.append(folder.resolve("link"), "x"))
        .hasMessageContaining("another user has put it there");
    assertThatThrownBy(() -> files.truncate(folder.resolve("link"), 0))
        .hasMessageContaining("another user has put it there");
    assertThatThrownBy(() -> files.append(folder.resolve("dangling"), "x"))
        .hasMessageContaining("Cannot append");
    assertThat(target).hasContent("kept");
    assertThat(folder.resolve("nothing")).doesNotExist();
  }

  private String mode(String name) throws IOException {
    int mode = (Integer) Files.getAttribute(folder.resolve(name), "unix:mode");
    return Integer.toOctalString(mode & 07777);
  }
}
