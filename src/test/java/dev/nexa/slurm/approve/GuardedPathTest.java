package dev.nexa.slurm.approve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuardedPathTest {
  @TempDir Path folder;

  @Test
  void aFileIsGuardedIfNobodyElseMayChangeItOrAFolderAboveIt() throws IOException {
    Path below = Files.createDirectory(folder.resolve("etc"));
    Path file = Files.writeString(below.resolve("allowed_signers"), "");
    Set<Integer> trusted = new TreeSet<>(List.of(0, GuardedPath.owner(file).orElseThrow()));
    mode(below, "rwxr-xr-x");
    mode(file, "rw-r--r--");

    assertThat(GuardedPath.problem(file, trusted)).isEmpty();
    mode(file, "rw-rw-r--");
    assertThat(GuardedPath.problem(file, trusted))
        .contains(file + " is writable by others than its owner");
    mode(file, "rw-r--r--");
    mode(below, "rwxr-xrwx");
    assertThat(GuardedPath.problem(file, trusted))
        .contains(below + " is writable by others than its owner");
    mode(below, "rwxr-xr-x");
    assertThat(GuardedPath.problem(file, Set.of(4711)).orElseThrow()).contains("belongs to uid");
    assertThat(GuardedPath.problem(below.resolve("none"), trusted).orElseThrow())
        .contains("it does not exist");
  }

  @Test
  void aLinkIsFollowedToWhatItNames() throws IOException {
    Path open = Files.createDirectory(folder.resolve("open"));
    Path file = Files.writeString(open.resolve("signers"), "");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);
    mode(open, "rwxrwxrwx");

    assertThat(
            GuardedPath.problem(
                    link, new TreeSet<>(List.of(0, GuardedPath.owner(file).orElseThrow())))
                .orElseThrow())
        .startsWith(open.toRealPath().toString());
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }
}
