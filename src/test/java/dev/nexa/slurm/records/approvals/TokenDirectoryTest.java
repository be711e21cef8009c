package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may write here may approve: as root, because only root can give a file away. */
class TokenDirectoryTest {
  @TempDir Path folder;

  private Path approved;
  private TokenDirectory directory;

  @BeforeEach
  void make() throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can own such a folder");
    approved = Files.createDirectories(folder.resolve("approved/used")).getParent();
    directory = new TokenDirectory(approved);
  }

  @Test
  void aTokenIsRootsAndReadByAll() throws IOException {
    Path file = directory.install(token(1), DurableFiles.onDisk());

    assertThat(file).isEqualTo(approved.resolve("0123456789abcdef")).content().contains("uses=1\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r--r--");
    assertThat(directory.problems()).isEmpty();
    directory.install(token(2), DurableFiles.onDisk());
    assertThat(file).content().contains("uses=2\n");
  }

  @Test
  void aFolderThatOthersCanWriteToIsNotUsed() throws IOException {
    Files.setPosixFilePermissions(approved, PosixFilePermissions.fromString("rwxrwxr-x"));

    assertThatThrownBy(() -> directory.install(token(1), DurableFiles.onDisk()))
        .isInstanceOf(NexaException.class)
        .hasMessage(
            approved + " is writable by others than its owner; root types: chmod go-w " + approved);
  }

  @Test
  void norIsOneBelowAFolderThatOthersCanWriteTo() throws IOException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertThat(directory.problems())
        .containsExactly(
            folder + " is writable by others than its owner; root types: chmod go-w " + folder);
  }

  @Test
  void aTokenThatIsNotRootsIsTold() throws IOException {
    Path file = directory.install(token(1), DurableFiles.onDisk());
    Files.setAttribute(file, "unix:uid", 12345);
    Path link = Files.createSymbolicLink(approved.resolve("fedcba9876543210"), file);

    assertThat(directory.problems())
        .containsExactlyInAnyOrder(
            file + " belongs to uid 12345; root types: chown root " + file,
            link + " is a symbolic link; root types: rm " + link);
  }

  @Test
  void withoutAPlaceToCountUsesNothingIsInstalled() throws IOException {
    Files.delete(approved.resolve("used"));

    assertThatThrownBy(() -> directory.install(token(1), DurableFiles.onDisk()))
        .hasMessageStartingWith(
            "there is no folder "
                + approved.resolve("used")
                + ", where slurmctld counts uses; root types: install -d -o \"$(scontrol show config")
        .hasMessageEndingWith(" -m 755 " + approved.resolve("used"));
    assertThat(new TokenDirectory(folder.resolve("none")).problems())
        .containsExactly(
            "there is no folder "
                + folder.resolve("none")
                + ", where slurmctld looks for approvals; root types: install -d -o root -m 755 "
                + folder.resolve("none"));
  }

  private static SlurmToken token(int uses) {
    JsonObject limits =
        new JsonObject()
            .with("tasks", 1)
            .with("attempts", 1)
            .with("time_limit_seconds", 60)
            .with("nodes", 1)
            .with("exclusive", false)
            .with("gpus", 1)
            .with("cpus", 1)
            .with("memory_bytes", 1);
    return new SlurmToken(
        "0123456789abcdef", "ada", 1001, limits, uses, Instant.now(), "0".repeat(64));
  }
}
