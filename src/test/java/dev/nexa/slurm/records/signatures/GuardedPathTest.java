package dev.nexa.slurm.records.signatures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
        .contains(file + " is writable by others than its owner; root types: chmod go-w " + file);
    mode(file, "rw-r--r--");
    mode(below, "rwxr-xrwx");
    assertThat(GuardedPath.problem(file, trusted))
        .contains(below + " is writable by others than its owner; root types: chmod go-w " + below);
    mode(below, "rwxr-xr-x");
    assertThat(GuardedPath.problem(file, Set.of(4711)).orElseThrow()).contains("belongs to ");
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

  @Test
  void eachLinkOnTheWayIsLookedAt() throws IOException {
    Path good = Files.createDirectory(folder.resolve("good"));
    Path file = Files.writeString(good.resolve("signers"), "");
    Path scratch = Files.createDirectory(folder.resolve("scratch"));
    Path etc = Files.createDirectory(folder.resolve("etc"));
    Path middle = Files.createSymbolicLink(scratch.resolve("link"), Path.of("../good"));
    Path allowed = Files.createSymbolicLink(etc.resolve("allowed"), middle.resolve("signers"));
    Set<Integer> trusted = new TreeSet<>(List.of(0, GuardedPath.owner(file).orElseThrow()));

    assertThat(GuardedPath.problem(allowed, trusted)).isEmpty();
    mode(scratch, "rwxrwxrwx");
    assertThat(GuardedPath.problem(allowed, trusted))
        .contains(
            scratch + " is writable by others than its owner; root types: chmod go-w " + scratch);
    assertThat(GuardedPath.problem(scratch.resolve("link/../good/signers"), trusted))
        .contains(
            scratch + " is writable by others than its owner; root types: chmod go-w " + scratch);
    mode(scratch, "rwxr-xr-x");
    Files.createSymbolicLink(etc.resolve("a"), Path.of("b"));
    Files.createSymbolicLink(etc.resolve("b"), Path.of("a"));
    assertThat(GuardedPath.problem(etc.resolve("a"), trusted).orElseThrow())
        .contains("too many symbolic links");
  }

  @Test
  void aLinkInAStickyFolderIsItsOwnersToChange() throws IOException {
    Path file = Files.writeString(folder.resolve("signers"), "");
    assumeTrue(GuardedPath.owner(file).orElseThrow() == 0, "only root gives files away");
    Path sticky = Files.createDirectory(folder.resolve("sticky"));
    Files.setAttribute(sticky, "unix:mode", 01777);
    Path link = Files.createSymbolicLink(sticky.resolve("link"), file);

    assertThat(GuardedPath.problem(link, Set.of(0))).isEmpty();
    Files.setAttribute(link, "unix:uid", 4711, LinkOption.NOFOLLOW_LINKS);
    assertThat(GuardedPath.problem(link, Set.of(0)))
        .contains(link + " belongs to uid 4711; root types: chown -h root " + link);
  }

  /** chown would take the folder away from its owner. */
  @Test
  void aFolderOfAUserAboveTheFileStaysTheirs() throws IOException {
    Path home = Files.createDirectory(folder.resolve("home"));
    Path file = Files.writeString(home.resolve("signers"), "");
    assumeTrue(GuardedPath.owner(file).orElseThrow() == 0, "only root gives files away");
    Files.setAttribute(home, "unix:uid", 4711);

    assertThat(GuardedPath.problem(file, Set.of(0)).orElseThrow())
        .startsWith(home + " belongs to uid 4711, who can replace what is in it; keep signers in a")
        .doesNotContain("chown");
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }
}
