package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `sync` of a folder on a full disk: a tmpfs, so only root can run these. */
@Tag("full")
class SyncFullDiskTest {
  private static final String ADDRESS = "s3://nexacompute/full";

  @TempDir Path folder;
  private Path disk;
  private S3Server server;

  @BeforeEach
  void begin() throws Exception {
    disk = Files.createDirectory(folder.resolve("disk"));
    assumeTrue(shell("mount -t tmpfs -o size=1m full " + disk), "only root can mount a tmpfs");
    server = S3Server.proxy(Files.createDirectory(folder.resolve("s3")));
  }

  @AfterEach
  void end() throws Exception {
    if (server != null) {
      server.close();
    }
    shell("umount " + disk);
  }

  private static boolean shell(String command) throws IOException, InterruptedException {
    return new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start().waitFor() == 0;
  }

  private Ended sync(String step, Path from) {
    List<String> words =
        new ArrayList<>(List.of("sync", step, from.toString(), ADDRESS, "--region", "us-east-1"));
    words.addAll(List.of("--endpoint", server.address().toString()));
    return new OwnProcess(folder, folder).type(S3Server.credentials(), words);
  }

  @Test
  void aPushOfAFullDiskHasItsRecordInTheHome() throws Exception {
    shell("head -c 2M /dev/zero > " + disk.resolve("big.bin"));

    Ended push = sync("push", disk);

    assertThat(push.status()).as(push.text()).isZero();
    assertThat(push.text())
        .contains("note: the disk of " + disk + " is full, so the record of this sync is in ")
        .contains(folder.resolve(".local/state/nexa-slurm/sync").toString(), "1 file copied");
    assertThat(sync("verify", disk).text()).contains("are equal");
    // A file that changed a moment before the push is compared once more.
    assertThat(sync("plan", disk).text())
        .containsPattern("unchanged|compared ")
        .doesNotContainPattern("(?m)^ *copy ");
  }

  @Test
  void aPullIntoAFullDiskSaysToMakeRoom() throws Exception {
    Path source = Files.createDirectory(folder.resolve("source"));
    Files.write(source.resolve("big.bin"), new byte[2 << 20]);
    assertThat(sync("push", source).status()).isZero();

    Ended half = sync("pull", disk);
    assertThat(half.status()).as(half.text()).isEqualTo(1);
    assertThat(half.text())
        .contains("big.bin: No space left on device")
        .contains("make room on the disk of " + disk, "then type the command again");

    shell("head -c 2M /dev/zero > " + disk.resolve("other.bin"));
    Ended full = sync("pull", disk);
    assertThat(full.status()).as(full.text()).isEqualTo(1);
    assertThat(full.text()).contains("make room on the disk of " + disk);
  }
}
