package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.archive.ArchiveSite;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import dev.nexa.slurm.storage.s3.FaultProxy;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `archive` with a real S3 server, in processes of their own. */
@Tag("long")
class ArchiveInBucketTest {
  private static final String RUN = "train_20251001_143200";
  private static final String PLACE = "s3://nexacompute/archive";

  @TempDir Path folder;
  private ArchiveSite site;
  private Path checkpoints;
  private S3Server server;

  @BeforeEach
  void begin() throws IOException {
    site = new ArchiveSite(folder);
    RunFolder run = site.run(RUN);
    checkpoints = site.checkpoints(run);
    byte[] large = new byte[20 << 20];
    new Random(50).nextBytes(large);
    Files.write(checkpoints.resolve("large.bin"), large);
    CleanupSite.old(checkpoints);
    server = S3Server.proxy(Files.createDirectories(folder.resolve("s3")));
    profile(server.address().toString());
  }

  private void profile(String endpoint) {
    site.site.profileWithBucket("archive: " + PLACE, endpoint);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Ended archive(String... arguments) {
    return archive(Map.of(), arguments);
  }

  private Ended archive(Map<String, String> variables, String... arguments) {
    Map<String, String> all = new TreeMap<>(S3Server.credentials());
    all.put("PATH", site.site.terminal.bin + ":/usr/bin:/bin");
    all.putAll(variables);
    List<String> words = new ArrayList<>(List.of("archive"));
    words.addAll(List.of(arguments));
    return new OwnProcess(site.site.terminal.workspace, folder).type(all, words);
  }

  @Test
  void aRunGoesToTheBucketAndComesBack() throws Exception {
    Map<String, String> before = tree();

    Ended done = archive(RUN, "--yes");

    assertThat(done.status()).as(done.text()).isZero();
    assertThat(done.text()).contains("archived " + RUN, PLACE + "/" + RUN + ".tar.zst");
    assertThat(checkpoints).doesNotExist();
    assertThat(site.site.durable.resolve(".nexa-archive")).doesNotExist();
    assertThat(archive("verify", RUN).text()).contains("SHA-256 in S3 are as recorded");
    assertThat(archive("verify", RUN, "--checksum").text()).contains("were read");

    Ended back = archive("restore", RUN);
    assertThat(back.status()).as(back.text()).isZero();
    assertThat(tree()).isEqualTo(before);

    // The same files find their bundle; nothing is sent again.
    Ended again = archive(RUN, "--yes");
    assertThat(again.status()).as(again.text()).isZero();
    assertThat(checkpoints).doesNotExist();
  }

  /**
   * Cron's locale is C: a name such as {@code Modèle} cannot be read there, and would be left out.
   */
  @Test
  @Tag("full")
  void aLocaleThatCannotReadNamesIsRefused() throws Exception {
    Map<String, String> ascii = Map.of("LC_ALL", "C");

    Ended pack = archive(ascii, RUN, "--yes");
    assertThat(pack.status()).isEqualTo(2);
    assertThat(pack.text())
        .contains("in which names of files cannot be read", "LC_ALL=C.UTF-8 nexa-slurm archive");
    assertThat(checkpoints).exists();

    assertThat(archive(RUN, "--yes").status()).isZero();
    Ended back = archive(ascii, "restore", RUN);
    assertThat(back.status()).isEqualTo(2);
    assertThat(back.text()).contains("LC_ALL=C.UTF-8 nexa-slurm archive restore");
    assertThat(checkpoints).doesNotExist();
  }

  private Map<String, String> tree() throws IOException {
    byte[] large = Files.readAllBytes(checkpoints.resolve("large.bin"));
    Files.delete(checkpoints.resolve("large.bin"));
    CleanupSite.old(checkpoints);
    Map<String, String> tree = ArchiveSite.tree(checkpoints);
    tree.replaceAll((path, what) -> what.replaceAll("20\\d\\d-\\S+Z", "TIME"));
    tree.put("large", "" + java.util.Arrays.hashCode(large));
    Files.write(checkpoints.resolve("large.bin"), large);
    CleanupSite.old(checkpoints);
    return tree;
  }

  @Test
  void anOutageRemovesNothingAndTheNextCallFinishes() throws Exception {
    try (FaultProxy proxy = new FaultProxy(server.port())) {
      proxy.choose(
          (method, target) ->
              method.equals("PUT") && target.contains("partNumber=2")
                  ? Fault.SLOWDOWN_503
                  : Fault.NONE);
      profile(proxy.address().toString());
      Ended cut = archive(RUN, "--yes");
      assertThat(cut.status()).as(cut.text()).isEqualTo(1);
      assertThat(cut.text()).contains("not done: " + RUN, "SlowDown");
      assertThat(checkpoints.resolve("large.bin")).exists();
    }
    profile(server.address().toString());
    Ended done = archive(RUN, "--yes");
    assertThat(done.status()).as(done.text()).isZero();
    assertThat(archive("verify", RUN, "--checksum").status()).isZero();
    assertThat(site.site.durable.resolve(".nexa-archive")).doesNotExist();
  }

  @Test
  @Tag("full")
  void aBundleInAGlacierClassNamesTheCommandThatRestoresIt() throws Exception {
    assertThat(archive(RUN, "--yes").status()).isZero();
    try (FaultProxy proxy = new FaultProxy(server.port())) {
      proxy.choose((method, target) -> method.equals("GET") ? Fault.ARCHIVED_403 : Fault.NONE);
      profile(proxy.address().toString());

      Ended frozen = archive("restore", RUN);

      assertThat(frozen.text())
          .contains("is in a cold storage class")
          .contains(
              "aws s3api restore-object --bucket nexacompute --key archive/" + RUN + ".tar.zst");
      assertThat(frozen.status()).isEqualTo(2);
      assertThat(checkpoints).doesNotExist();
    }
  }
}
