package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `sync mirror` with Debian's rsync, from a local folder. */
class MirrorCommandTest {
  @TempDir Path folder;
  private Terminal terminal;
  private Path durable;
  private Path mirror;

  @BeforeEach
  void begin() {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/rsync")), "no rsync: dev/install");
    terminal = new Terminal(folder);
    terminal.with("PATH", "/usr/bin:/bin");
    durable = folder.resolve("nexa_durable");
    mirror = folder.resolve("durable");
    for (int n = 0; n < 20; n++) {
      CleanupSite.write(durable.resolve("checkpoints/run_1/" + n + ".bin"), "weights");
    }
    CleanupSite.write(durable.resolve("half.tmp"), "x");
    CleanupSite.write(durable.resolve(".nexa-sync/state"), "x");
  }

  private Screen mirror(String... more) {
    String[] words = new String[4 + more.length];
    System.arraycopy(
        new String[] {"sync", "mirror", durable.toString(), mirror.toString()}, 0, words, 0, 4);
    System.arraycopy(more, 0, words, 4, more.length);
    return terminal.type(words);
  }

  @Test
  void copiesWhatIsNewAndNothingOfOurs() {
    Screen dry = mirror("--dry-run");
    assertThat(dry.out()).contains("would copy 20 files, 140 bytes", "nothing was copied");
    assertThat(mirror).doesNotExist();

    Screen first = mirror();
    assertThat(first.exit()).as(first.toString()).isZero();
    assertThat(first.out()).contains("copied 20 files, 140 bytes: " + mirror);
    assertThat(mirror.resolve("checkpoints/run_1/7.bin")).hasContent("weights");
    assertThat(mirror.resolve("half.tmp")).doesNotExist();
    assertThat(mirror.resolve(".nexa-sync")).doesNotExist();
    assertThat(mirror("--json").json().number("copied")).isZero();
  }

  @Test
  void deletesOnlyWhatWasShownAndAllowed() throws IOException {
    mirror();
    CleanupSite.write(mirror.resolve("mine"), "mine");
    assertThat(mirror().exit()).isZero();
    assertThat(mirror.resolve("mine")).exists();

    assertThat(mirror("--delete").err()).contains("nobody can be asked", "--yes");
    Screen deleted = mirror("--delete", "--yes");
    assertThat(deleted.out()).contains("would delete mine", "deleted 1 file");
    assertThat(mirror.resolve("mine")).doesNotExist();

    for (int n = 0; n < 5; n++) {
      Files.delete(durable.resolve("checkpoints/run_1/" + n + ".bin"));
    }
    Screen many = mirror("--delete", "--yes");
    assertThat(many.err()).contains("5 files and folders would be deleted", "--max-delete 5");
    assertThat(many.exit()).isEqualTo(2);
    assertThat(mirror.resolve("checkpoints/run_1/0.bin")).exists();
    assertThat(mirror("--delete", "--yes", "--max-delete", "5").exit()).isZero();
    assertThat(mirror.resolve("checkpoints/run_1/0.bin")).doesNotExist();
  }

  @Test
  void anEmptySourceDeletesNothing() throws IOException {
    mirror();
    Path empty = Files.createDirectory(folder.resolve("unmounted"));

    Screen refused =
        terminal.type(
            "sync",
            "mirror",
            empty.toString(),
            mirror.toString(),
            "--delete",
            "--yes",
            "--max-delete",
            "100%");

    assertThat(refused.err()).contains("the source has no files", "[sync-deletion-refused]");
    assertThat(mirror.resolve("checkpoints/run_1/0.bin")).exists();
  }

  @Test
  void failuresAreSaidInWords() {
    Screen none =
        terminal.type("sync", "mirror", folder.resolve("none").toString(), mirror.toString());
    assertThat(none.err()).contains("rsync ended with 23: some files could not be copied", "none");
    assertThat(none.exit()).isEqualTo(1);
    assertThat(terminal.type("sync", "mirror", durable.toString(), "host:/x").err())
        .contains("LOCAL: expected a folder of this machine");
    terminal.with("PATH", folder.toString());
    assertThat(mirror().err()).contains("there is no rsync", "sudo apt-get install rsync");
  }

  @Test
  void aMirrorInsideItsSourceIsRefused() {
    for (String inside : new String[] {"", "/mirror"}) {
      Screen refused =
          terminal.type("sync", "mirror", durable.toString(), durable.toString() + inside);
      assertThat(refused.err()).contains("LOCAL: " + durable + inside + " is ");
      assertThat(refused.exit()).isEqualTo(2);
    }
    assertThat(durable.resolve("mirror")).doesNotExist();
  }

  @Test
  void optionsOfDeletionsNeedDelete() {
    assertThat(mirror("--yes").err()).contains("--yes needs --delete");
    assertThat(mirror("--max-delete", "5").err()).contains("--max-delete needs --delete");
    assertThat(mirror("--max-delete", "5").exit()).isEqualTo(2);
  }
}
