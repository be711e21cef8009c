package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** `cleanup --s3` with a real S3 server, in processes of their own. */
@Tag("full")
class CleanupInBucketTest {
  @TempDir Path folder;
  private CleanupSite site;
  private Path objects;
  private S3Server server;

  @BeforeEach
  void begin() throws IOException {
    site = new CleanupSite(folder);
    for (int i = 0; i < 18; i++) {
      Files.writeString(site.durable.resolve(i + ".bin"), "weights");
    }
    Files.writeString(site.durable.resolve("half.tmp"), "weig");
    Files.writeString(site.durable.resolve("young.tmp"), "weig");
  }

  /** Starts the server, and pushes the durable tier there. */
  private void push() throws IOException {
    server = S3Server.proxy(Files.createDirectories(folder.resolve("s3")));
    objects = folder.resolve("s3/objects").resolve(S3Server.BUCKET).resolve("durable");
    site.profileWithBucket("s3_prefix: s3://nexacompute/durable", server.address().toString());
    // As a tool does that knows no names of ours; sync would leave it out.
    assertThat(type("sync", "push").status()).isZero();
    for (String name : List.of("half.tmp", "young.tmp")) {
      server.put("durable/" + name, "weig");
    }
    Files.setLastModifiedTime(
        objects.resolve("half.tmp"), FileTime.from(Instant.now().minus(Duration.ofDays(8))));
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private Ended type(String... arguments) {
    return new OwnProcess(site.terminal.workspace, folder)
        .type(S3Server.credentials(), List.of(arguments));
  }

  @Test
  void aDryRunShowsAndYesDeletes() throws IOException {
    push();
    Ended dry = type("cleanup", "--s3", "--dry-run");
    assertThat(dry.status()).as(dry.err()).isZero();
    assertThat(dry.out())
        .contains("durable/half.tmp", "its name ends with .tmp, and no sync copies it")
        .contains("durable/young.tmp", "it was written in the last 7 days")
        .contains("1 object (4 bytes), in s3://nexacompute/durable/")
        .contains("nothing was deleted");
    Ended nobody = type("cleanup", "--s3");
    assertThat(nobody.status()).isEqualTo(2);
    assertThat(nobody.err())
        .contains("this would delete 1 object (4 bytes), in s3://nexacompute/durable/ for good")
        .contains("add --yes");
    assertThat(objects.resolve("half.tmp")).exists();

    Ended done = type("cleanup", "--s3", "--yes");
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out()).contains("deleted 1 object (4 bytes)", "each key is in ");
    assertThat(objects.resolve("half.tmp")).doesNotExist();
    assertThat(objects.resolve("young.tmp")).exists();
    assertThat(objects.resolve("0.bin")).exists();
    Path journal = Path.of(done.out().replaceAll("(?s).*each key is in ", "").strip());
    List<String> lines = Files.readAllLines(journal);
    assertThat(lines).hasSize(2);
    assertThat(Json.parseObject(lines.get(1)).text("key")).isEqualTo("durable/half.tmp");
    assertThat(type("cleanup", "--s3", "--quiet", "--yes")).isEqualTo(new Ended(0, "", ""));

    String id = journal.getFileName().toString().replace(".jsonl", "");
    for (String typed : List.of(id, id.replace("s3_", ""))) {
      assertThat(type("cleanup", "--undo", typed).err())
          .contains("where there is no trash: a cleanup of S3 cannot be undone");
    }
    assertThat(type("cleanup", "list").status()).isZero();
  }

  @Test
  void moreThanTheLimitIsRefused() throws IOException {
    push();
    Ended plan = type("cleanup", "--s3", "--days", "0", "--max-delete", "1", "--dry-run");
    assertThat(plan.status()).isZero();
    assertThat(plan.out())
        .contains(
            "this would be refused: 2 of 20 objects would be deleted, more than --max-delete 1");
    Ended refused = type("cleanup", "--s3", "--days", "0", "--max-delete", "1", "--yes");
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err())
        .contains("--s3: 2 of 20 objects would be deleted", "[sync-deletion-refused]")
        .contains("nexa-slurm cleanup --s3 --dry-run", "then raise --max-delete: 2");
    assertThat(objects.resolve("half.tmp")).exists();

    Ended done = type("cleanup", "--s3", "--days", "0", "--yes", "--json");
    JsonObject json = Json.parseObject(done.out());
    assertThat(json.texts("deleted")).containsExactly("durable/half.tmp", "durable/young.tmp");
    assertThat(json.objects("keeps"))
        .isNotEmpty()
        .allSatisfy(kept -> assertThat(kept.members()).containsOnlyKeys("key", "reason"));
    assertThat(json.flag("acted")).isTrue();
    assertThat(json.text("journal")).contains("/cleanup/s3_cleanup_");
    assertThat(type("sync", "verify").status()).isZero();
  }

  @Test
  void thePlaceOfABucketIsNoWordOfCleanup() {
    site.terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: %s, durable: %s, shared: %s}\n"
            .formatted(site.scratch, site.durable, site.shared));
    assertThat(site.terminal.type("cleanup", "--s3").err())
        .contains("no address in S3 is given", "or set storage.s3_prefix in the profile")
        .doesNotContain("or type s3://");
    assertThat(site.terminal.type("cleanup", "s3://nexacompute/durable").err())
        .contains("nexa-slurm cleanup --s3 --dry-run");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --s3 --tier durable               | --tier cannot be given with --s3; nothing was deleted
          --s3 --grace 1d                   | --grace cannot be given with --s3
          --s3 --prune-size 0               | --prune-size cannot be given with --s3
          --s3 --max-delete few             | --max-delete: expected a number of objects or a percentage
          --max-delete 5                    | --max-delete needs --s3; nothing was removed
          --endpoint http://x               | --endpoint needs --s3
          --undo cleanup_20251101_143200_k3x9ab --s3 | --s3 cannot be given with --undo; nothing was brought back
          """)
  void optionsOfTheOtherKindAreRefused(String arguments, String message) {
    Screen screen = site.terminal.type(("cleanup --yes " + arguments).split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(message);
  }
}
