package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is this user's own: in a folder that only this user writes, and in one that others share.
 */
class FileOwnerTest {
  private static final int ANOTHER = 65534;

  @TempDir Path folder;
  private Path own;
  private Path shared;

  @BeforeEach
  void folders() throws IOException {
    own = Files.createDirectory(folder.resolve("own"));
    shared = Files.createDirectory(folder.resolve("shared"));
    Files.setAttribute(shared, "unix:mode", 03770);
    Files.createDirectory(own.resolve("target"));
  }

  private static Path of(int user, Path path) throws IOException {
    Files.setAttribute(path, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
    return path;
  }

  private Path link(Path in) throws IOException {
    return Files.createSymbolicLink(in.resolve("link"), own.resolve("target"));
  }

  @Test
  void whatIMakeIsMineAndSoIsMyLink() throws IOException {
    assertThat(FileOwner.isMine(own.resolve("target"))).isTrue();
    assertThat(FileOwner.isMine(link(own))).isTrue();
    assertThat(FileOwner.isMine(link(shared))).isTrue();
    assertThat(FileOwner.isPlanted(shared.resolve("link"))).isFalse();
  }

  @Test
  void anotherUsersLinkToWhatIsMineIsNotMine() throws IOException {
    onlyRoot();
    for (Path in : new Path[] {own, shared}) {
      assertThat(FileOwner.isMine(of(ANOTHER, link(in)))).as("%s", in).isFalse();
    }
    assertThat(FileOwner.isPlanted(shared.resolve("link"))).isTrue();
    assertThat(FileOwner.isPlanted(own.resolve("link"))).as("only I can write there").isFalse();
  }

  @Test
  void anotherUsersFolderIsNotMineAndNeitherIsMyLinkToIt() throws IOException {
    onlyRoot();
    of(ANOTHER, own.resolve("target"));
    assertThat(FileOwner.isMine(own.resolve("target"))).isFalse();
    assertThat(FileOwner.isMine(link(own))).isFalse();
  }

  @Test
  void theOwnerOfASharedFolderMayLinkToAnotherDisk() throws IOException {
    onlyRoot();
    of(ANOTHER, shared);
    of(ANOTHER, link(shared));
    assertThat(FileOwner.isPlanted(shared.resolve("link"))).isFalse();
    DurableFiles.onDisk().directories(shared.resolve("link"));
  }

  @Test
  void myLinkToItselfIsMineAndStopsNoPassOverAllRuns() throws IOException {
    Path loop = own.resolve("loop");
    Files.createSymbolicLink(loop, loop);
    assertThat(FileOwner.isMine(loop)).isTrue();
  }

  /** Where fs.protected_hardlinks is 0, anybody can give my link a second name. */
  @Test
  void aLinkWithTwoNamesIsNobodys() throws IOException {
    Path link = link(shared);
    Files.createLink(shared.resolve("alias"), link);
    assertThat(Files.isSymbolicLink(shared.resolve("alias"))).isTrue();
    assertThat(FileOwner.isMine(shared.resolve("alias"))).isFalse();
  }

  @Test
  void noFolderIsMadeThroughALinkThatAnotherUserHasPutThere() throws IOException {
    onlyRoot();
    Path link = of(ANOTHER, link(shared));
    assertThatThrownBy(() -> DurableFiles.onDisk().directories(link))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("Cannot use " + link + ": another user has put a link there");
  }

  private static void onlyRoot() {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a file away");
  }
}
