package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.storage.OwnProcess.Ended;
import dev.nexa.slurm.storage.s3.FaultProxy;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** `sync` as a user types it, in a process of its own, because the AWS SDK reads its variables. */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SyncCommandTest {
  private static final Map<String, String> KEYS = S3Server.credentials();

  private Path folder;
  private Path source;
  private S3Server server;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    source = Files.createDirectories(folder.resolve("source"));
    Files.writeString(source.resolve("final.pt"), "weights");
    Files.writeString(source.resolve("half.tmp"), "weig");
    server = S3Server.proxy(folder);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private Ended sync(Map<String, String> variables, String... arguments) {
    Map<String, String> all = new TreeMap<>(variables);
    all.putIfAbsent("AWS_REGION", "us-east-1");
    List<String> words = new ArrayList<>(List.of("sync"));
    words.addAll(List.of(arguments));
    return new OwnProcess(folder, folder).type(all, words);
  }

  private String endpoint() {
    return server.address().toString();
  }

  @Test
  void pushesTheDurableTierToTheAddressOfTheEnvironment() throws Exception {
    Map<String, String> seeds =
        new java.util.HashMap<>(
            Map.of(
                "NEXA_DURABLE",
                source.toString(),
                "NEXA_S3_PREFIX",
                "s3://nexacompute/checkpoints"));
    seeds.putAll(KEYS);

    Ended push = sync(seeds, "push", "--endpoint", endpoint());

    assertThat(push.text()).contains("1 file copied, 7 bytes moved");
    assertThat(push.status()).isZero();
    Ended verify = sync(seeds, "verify", "--checksum", "--json", "--endpoint", endpoint());
    assertThat(verify.text()).contains("\"equal\": 1").contains("\"differing\": 0");
    Files.writeString(source.resolve("final.pt"), "WEIGHTS");
    Ended changed = sync(seeds, "verify", "--endpoint", endpoint());
    Files.writeString(source.resolve("final.pt"), "weights");
    assertThat(changed.text()).contains("final.pt: other bytes [sync-differs]");
    assertThat(changed.status()).isEqualTo(1);
  }

  @Test
  void aPushInAJobReportsItsBytesForTheRunsCost() throws Exception {
    Path metrics = folder.resolve("0.0.metrics.json");
    Map<String, String> job = new java.util.HashMap<>(KEYS);
    job.put("NEXA_METRICS", metrics.toString());
    String[] push = {"push", source.toString(), "s3://nexacompute/job", "--endpoint", endpoint()};

    assertThat(sync(job, push).status()).isZero();
    assertThat(sync(job, push).status()).isZero();

    assertThat(metrics).hasContent("{\"egress_bytes\":7}");
  }

  /** Writes what a job with `backend: sync` has beside it. */
  private String settings() throws IOException {
    Path settings = folder.resolve("sync.json");
    Files.writeString(
        settings,
        "{\"durable\": \"%s\", \"s3_prefix\": \"s3://nexacompute/tier/\", \"s3\": {\"endpoint\": \"%s\", \"path_style\": true}}"
            .formatted(folder, endpoint()));
    return settings.toString();
  }

  @Test
  @Tag("full")
  void aJobNeedsNoProfileAndMapsItsFolderBelowTheTier() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("latest"), source);
    Path metrics = folder.resolve("1.0.metrics.json");
    Map<String, String> job = new java.util.HashMap<>(KEYS);
    job.put("NEXA_METRICS", metrics.toString());
    job.put("NEXA_S3_PREFIX", "s3://no-such-bucket/x");

    Ended push = sync(job, "push", "--settings", settings(), link.toString());

    assertThat(push.text()).contains("→ s3://nexacompute/tier/source/");
    assertThat(push.status()).isZero();
    assertThat(folder.resolve("objects/nexacompute/tier/source/final.pt")).hasContent("weights");
    assertThat(metrics)
        .hasContent(
            "{\"address\":\"s3://nexacompute/tier/source/\",\"copied_files\":1,\"files\":1,\"bytes\":7,\"egress_bytes\":7}");
  }

  @Test
  @Tag("full")
  void aJobThatNamesAFileCopiesOnlyThisFile() throws Exception {
    Files.writeString(source.resolve("[last].pt"), "last");
    try {
      String file = source.resolve("[last].pt").toString();
      Ended push = sync(KEYS, "push", "--settings", settings(), file, "s3://nexacompute/one");

      assertThat(push.text()).contains("1 file copied, 4 bytes moved");
      assertThat(folder.resolve("objects/nexacompute/one/[last].pt")).hasContent("last");
      assertThat(folder.resolve("objects/nexacompute/one/final.pt")).doesNotExist();
      Path link = Files.createSymbolicLink(folder.resolve("best.pt"), source.resolve("final.pt"));
      Ended linked =
          sync(KEYS, "push", "--settings", settings(), link.toString(), "s3://nexacompute/best");
      assertThat(linked.text()).contains("1 file copied, 7 bytes moved");
      assertThat(folder.resolve("objects/nexacompute/best/final.pt")).hasContent("weights");
    } finally {
      Files.delete(source.resolve("[last].pt"));
    }
  }

  @Test
  @Tag("full")
  void aJobSaysWhichKeyIsWrong(@TempDir Path elsewhere) throws Exception {
    Ended gone = sync(KEYS, "push", "--settings", settings(), folder.resolve("gone").toString());
    assertThat(gone.text())
        .contains("sync.from: there is no folder or file " + folder.resolve("gone"));

    Ended other = sync(KEYS, "push", "--settings", settings(), elsewhere.toString());
    assertThat(other.text())
        .contains("sync.to is missing, and " + elsewhere + " is not on the durable tier " + folder)
        .contains("write sync.to: s3://BUCKET/PREFIX into the config");
    assertThat(other.status()).isEqualTo(2);

    Path broken = Files.writeString(elsewhere.resolve("x.json"), "{}");
    Ended settings = sync(KEYS, "push", "--settings", broken.toString(), source.toString());
    assertThat(settings.text()).contains(broken + " is not the sync.json of a run: ");
    assertThat(settings.status()).isEqualTo(2);
  }

  @Test
  @Tag("full")
  void saysWhatIsMissing() throws Exception {
    Ended nowhere = sync(KEYS, "push");
    assertThat(nowhere.text()).contains("no address in S3 is given").contains("NEXA_S3_PREFIX");
    assertThat(nowhere.status()).isEqualTo(2);

    String[] push = {"push", source.toString(), "s3://nexacompute/x", "--endpoint", endpoint()};
    Ended anonymous = sync(Map.of(), push);
    assertThat(anonymous.text()).contains("there are no AWS credentials").contains("AWS_PROFILE");
    assertThat(anonymous.status()).isEqualTo(2);

    Ended bucket =
        sync(KEYS, "push", source.toString(), "s3://no-such-bucket/x", "--endpoint", endpoint());
    assertThat(bucket.text()).contains("there is no bucket 'no-such-bucket'").contains("aws s3 mb");
    assertThat(bucket.status()).isEqualTo(2);
  }

  @Test
  void neverPrintsASecret() throws Exception {
    String secret = "wrong-canary-secret";
    Ended refused =
        sync(
            Map.of(
                "AWS_ACCESS_KEY_ID",
                S3Server.KEY,
                "AWS_SECRET_ACCESS_KEY",
                secret,
                "AWS_SESSION_TOKEN",
                "canary-token"),
            "push",
            source.toString(),
            "s3://nexacompute/x",
            "--endpoint",
            endpoint(),
            "--stacktrace");
    assertThat(refused.text())
        .contains("S3: ")
        .doesNotContain(secret)
        .doesNotContain("canary-token")
        .doesNotContain(S3Server.SECRET);
    assertThat(refused.status()).isEqualTo(2);
  }

  @Test
  void aListingThatFailsDeletesNothing() throws Exception {
    String[] push = {"push", source.toString(), "s3://nexacompute/keep", "--endpoint", endpoint()};
    assertThat(sync(KEYS, push).status()).isZero();
    Path copy = Files.createDirectories(folder.resolve("copy"));
    Files.writeString(copy.resolve("mine"), "mine");
    try (FaultProxy proxy = new FaultProxy(server.port())) {
      proxy.choose((method, target) -> Fault.SLOWDOWN_503);
      Ended pull =
          sync(
              KEYS,
              "pull",
              copy.toString(),
              "s3://nexacompute/keep",
              "--delete",
              "--max-delete",
              "100%",
              "--endpoint",
              proxy.address().toString());

      assertThat(pull.text()).contains("the listing failed").contains("SlowDown");
      assertThat(pull.status()).isEqualTo(1);
      assertThat(copy.resolve("mine")).exists();
    }
  }

  private String refused(String... arguments) {
    StringWriter err = new StringWriter();
    List<String> words = new ArrayList<>(List.of("sync"));
    words.addAll(List.of(arguments));
    int status =
        Main.run(
            words.toArray(String[]::new),
            KEYS,
            new PrintWriter(err, true),
            new PrintWriter(err, true));
    assertThat(status).isEqualTo(2);
    return err.toString();
  }

  @Test
  void aPlaceThatIsNotWhatItSeemsIsExplained() {
    String dir = source.toString();
    assertThat(refused("pull", "s3://nexacompute/run_1"))
        .contains("'s3://nexacompute/run_1' is an address; its folder is missing")
        .contains("nexa-slurm sync pull DIR s3://nexacompute/run_1");
    assertThat(refused("push", dir)).contains("' is a folder; its address in S3 is missing");
    assertThat(refused("push", "nexacompute/x")).contains("type s3://nexacompute/x");
    assertThat(refused("push", dir, "s3:/nexacompute/x"))
        .contains("'s3:/nexacompute/x' is no address in S3")
        .contains("did you mean s3://nexacompute/x?");
    assertThat(refused("push", dir, "S3://nexacompute/x")).contains("mean s3://nexacompute/x?");
    assertThat(refused("push", dir, "s3://nexacompute//x"))
        .contains("the prefix of 's3://nexacompute//x' holds '//'")
        .contains("type s3://nexacompute/x");
    assertThat(refused("push", dir + "/final.pt", "s3://nexacompute/x"))
        .contains("final.pt is a file; sync copies folders")
        .contains("--exclude '*' --include final.pt");
    assertThat(refused("push", "--max-delete", "10")).contains("--max-delete needs --delete");
  }

  @Test
  void anEmptySourceIsNoSuccess() throws Exception {
    Path empty = Files.createDirectories(folder.resolve("empty"));
    String[] place = {empty.toString(), "s3://nexacompute/mistyped", "--endpoint", endpoint()};
    for (String step : List.of("pull", "verify", "push")) {
      Ended ended = sync(KEYS, concat(step, place));
      assertThat(ended.text())
          .contains(step.equals("push") ? "empty has no files" : "mistyped/ has no objects")
          .contains("[sync-source-empty]");
      assertThat(ended.status()).isEqualTo(1);
    }
  }

  private static String[] concat(String first, String... more) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  @Tag("full")
  void namesThatCannotBeCopiedAreNoSuccessAndReachNoTerminal() throws Exception {
    Path odd = Files.createDirectories(folder.resolve("odd"));
    Files.writeString(odd.resolve("good\nfake"), "x");
    Files.writeString(odd.resolve("esc\u001b[31m"), "x");
    Process nonUtf8 =
        new ProcessBuilder("sh", "-c", "printf x >\"$(printf 'latin\\374')\"")
            .directory(odd.toFile())
            .start();
    assertThat(nonUtf8.waitFor()).isZero();
    String[] place = {odd.toString(), "s3://nexacompute/odd", "--endpoint", endpoint()};

    Ended plan = sync(KEYS, concat("plan", place));
    assertThat(plan.text())
        .contains("good^Jfake")
        .contains("skipped: esc^[[31m")
        .contains("its name is not UTF-8")
        .doesNotContain("\u001b");
    Ended push = sync(KEYS, concat("push", place));
    assertThat(push.text()).contains("1 file copied").contains("could be read or copied");
    assertThat(push.status()).isEqualTo(1);
    Ended verify = sync(KEYS, concat("verify", place));
    assertThat(verify.text()).contains("not all names").contains("[sync-differs]");
    assertThat(verify.status()).isEqualTo(1);

    Ended ascii = sync(Map.of("LC_ALL", "C"), concat("push", place));
    assertThat(ascii.text())
        .contains("in which names of files cannot be read")
        .contains("LC_ALL=C.UTF-8 nexa-slurm sync push");
    assertThat(ascii.status()).isEqualTo(2);
  }

  @Test
  void aRefusedDeletionAndAConflictNameTheCommandToType() throws Exception {
    Path mine = Files.createDirectories(folder.resolve("mine"));
    Path copy = Files.createDirectories(folder.resolve("theirs"));
    for (int i = 0; i < 4; i++) {
      Files.writeString(mine.resolve("f" + i), "text");
    }
    String[] place = {mine.toString(), "s3://nexacompute/typed", "--endpoint", endpoint()};
    assertThat(sync(KEYS, concat("push", place)).status()).isZero();
    String[] pull = {copy.toString(), "s3://nexacompute/typed", "--endpoint", endpoint()};
    assertThat(sync(KEYS, concat("pull", pull)).status()).isZero();
    Files.writeString(copy.resolve("mine"), "mine");
    Files.writeString(copy.resolve("f1"), "newer");

    Ended refused = sync(KEYS, concat("pull", concat("--delete", pull)));
    assertThat(refused.text())
        .contains("1 of 5 files would be deleted")
        .contains("(never synced)")
        .contains("nexa-slurm sync plan --pull --delete " + copy + " s3://nexacompute/typed");
    assertThat(refused.status()).isEqualTo(2);
    Ended plan = sync(KEYS, concat("plan", concat("--pull", concat("--delete", pull))));
    assertThat(plan.text()).contains("this would be refused: --delete: 1 of 5");
    assertThat(plan.status()).isZero();

    Files.delete(mine.resolve("f2"));
    Files.writeString(mine.resolve("f1"), "changed on this side");
    assertThat(sync(KEYS, concat("push", place)).status()).isZero();
    Ended conflict = sync(KEYS, concat("pull", pull));
    assertThat(conflict.text())
        .contains("1 file was not replaced at " + copy)
        .contains("f1: the file here was changed after the last sync; it was not replaced")
        .contains("--overwrite --exclude '*' --include f1");
    assertThat(conflict.status()).isEqualTo(1);
  }

  @Test
  void nothingIsDeletedWithoutATerminalAndWithoutYes() throws Exception {
    Path mine = Files.createDirectories(folder.resolve("unasked"));
    for (int i = 0; i < 20; i++) {
      Files.writeString(mine.resolve("f" + i), "text");
    }
    String[] place = {mine.toString(), "s3://nexacompute/unasked", "--endpoint", endpoint()};
    assertThat(sync(KEYS, concat("push", place)).status()).isZero();
    Files.delete(mine.resolve("f1"));

    Ended refused = sync(KEYS, concat("push", concat("--delete", place)));
    assertThat(refused.text()).contains("nobody can be asked here whether to delete 1 file");
    assertThat(refused.text()).contains("add --yes to delete them, or --dry-run to only look");
    assertThat(refused.status()).isEqualTo(2);
    assertThat(folder.resolve("objects/nexacompute/unasked/f1")).exists();
    assertThat(sync(KEYS, concat("push", concat("--delete", concat("--dry-run", place)))).status())
        .isZero();

    Ended done = sync(KEYS, concat("push", concat("--delete", concat("--yes", place))));
    assertThat(done.status()).as(done.text()).isZero();
    assertThat(folder.resolve("objects/nexacompute/unasked/f1")).doesNotExist();
  }

  @Test
  void anUnfinishedUploadIsNotRemovedWithoutATerminalAndWithoutYes() throws Exception {
    Path large = Files.createDirectories(folder.resolve("large"));
    Files.write(large.resolve("large.bin"), new byte[17 << 20]);
    try (FaultProxy proxy = new FaultProxy(server.port())) {
      proxy.choose(
          (method, target) ->
              method.equals("PUT") && target.contains("partNumber=2")
                  ? Fault.DENIED_403
                  : Fault.NONE);
      String through = proxy.address().toString();
      sync(KEYS, "push", large.toString(), "s3://nexacompute/large", "--endpoint", through);
    }
    Thread.sleep(2_000);
    String[] left = {
      "abort-leftovers", "s3://nexacompute/large", "--older-than", "1s", "--endpoint", endpoint()
    };

    Ended refused = sync(KEYS, left);
    assertThat(refused.text()).contains("whether to remove 1 unfinished upload");
    assertThat(refused.status()).isEqualTo(2);
    List<String> more = new ArrayList<>(List.of(left));
    more.add("--yes");
    Ended done = sync(KEYS, more.toArray(String[]::new));
    assertThat(done.text()).contains("1 unfinished upload in s3://nexacompute/large/ removed");
    assertThat(sync(KEYS, left).status()).isZero();
  }

  @Test
  @Tag("full")
  void aPullMakesTheFolderThatWasTyped() throws Exception {
    String address = "s3://nexacompute/made";
    assertThat(sync(KEYS, "push", source.toString(), address, "--endpoint", endpoint()).status())
        .isZero();
    String target = folder.resolve("run_1").toString();
    String[] pull = {address, target, "--endpoint", endpoint()};

    Ended plan = sync(KEYS, concat("plan", concat("--pull", pull)));
    assertThat(plan.status()).as(plan.text()).isZero();
    assertThat(plan.text()).contains("→ " + target, "new");
    assertThat(sync(KEYS, concat("pull", concat("--dry-run", pull))).status()).isZero();
    assertThat(Path.of(target)).doesNotExist();

    Ended done = sync(KEYS, concat("pull", pull));
    assertThat(done.status()).as(done.text()).isZero();
    assertThat(Path.of(target).resolve("final.pt")).hasContent("weights");

    String deep = folder.resolve("no/such/run_1").toString();
    Ended refused = sync(KEYS, "pull", address, deep, "--endpoint", endpoint());
    assertThat(refused.text()).contains("there is no folder " + deep, "mkdir -p " + deep);
    assertThat(refused.status()).isEqualTo(2);
    Ended push = sync(KEYS, "push", deep, address, "--endpoint", endpoint());
    assertThat(push.text()).contains("there is no folder " + deep, "name one that exists");
  }

  @Test
  @Tag("full")
  void aPullPlansNoFileWhereALinkOrAFolderIs() throws Exception {
    Path mine = Files.createDirectories(folder.resolve("obstacles"));
    Files.createDirectory(mine.resolve("sub"));
    for (String name : List.of("a", "b", "c", "sub/d")) {
      Files.writeString(mine.resolve(name), "text");
    }
    String address = "s3://nexacompute/obstacles";
    assertThat(sync(KEYS, "push", mine.toString(), address, "--endpoint", endpoint()).status())
        .isZero();
    Path copy = Files.createDirectories(folder.resolve("taken"));
    Files.createSymbolicLink(copy.resolve("a"), source.resolve("final.pt"));
    Files.createDirectory(copy.resolve("b"));
    Files.createSymbolicLink(copy.resolve("sub"), source);
    String[] pull = {copy.toString(), address, "--endpoint", endpoint()};

    Ended plan = sync(KEYS, concat("plan", concat("--pull", pull)));
    assertThat(plan.text())
        .containsPattern("conflict .* a \\(a link is there, or at a folder above it\\)")
        .containsPattern("conflict .* b \\(a folder is there\\)")
        .containsPattern("conflict .* sub/d \\(a link is there")
        .containsPattern("new +1 file");
    Ended done = sync(KEYS, concat("pull", concat("--overwrite", pull)));
    assertThat(done.text())
        .contains("a: a link is there, or at a folder above it; it was not copied")
        .contains("rename or remove the link or the folder that is in the place of a file")
        .doesNotContain("type the command again", "nexa-slurm sync pull");
    assertThat(done.status()).isEqualTo(1);
    assertThat(copy.resolve("c")).hasContent("text");
    assertThat(source.resolve("final.pt")).hasContent("weights");
  }
}
