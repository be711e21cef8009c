package dev.nexa.slurm.job.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files of a working tree are packed, and into which bytes. With the real git and tar. */
class PackedCodeTest {
  private static final String CONFIG =
      "stage: train\nbackend: python\nentrypoint: {script: train.py}\nresources: {time: 5m}\n";

  @TempDir Path temp;
  private GitRepo repo;

  @BeforeEach
  void begin() {
    repo =
        GitRepo.make(temp.resolve("repo"))
            .file("run.yaml", CONFIG + "code: {}\n")
            .file("train.py", "import lib.data\n")
            .file("lib/data.py", "ROWS = 1\n")
            .file("tools/go.sh", "#!/bin/sh\necho go\n")
            .mode("tools/go.sh", "rwxr-xr-x")
            .file(".gitignore", "*.log\nout/\n")
            .link("lib/latest.py", "data.py")
            .commit();
  }

  /**
   * These bytes are what approvals sign: another digest here makes each approved run unapproved.
   */
  @Test
  void theBytesOfAKnownTreeStayTheSame() {
    assertThat(pack(repo).sha256())
        .isEqualTo("0cec36675319894cc757d97d73e51c8538cd892acd08984bf426ca70c253e2e8");
  }

  @Test
  void aCloneElsewhereHasTheSameDigest() throws IOException {
    GitRepo other = repo.cloned(temp.resolve("deep/er/clone"));
    other.mode("train.py", "rw-------").mode("tools/go.sh", "rwx------");
    Files.setLastModifiedTime(other.path().resolve("train.py"), FileTime.fromMillis(1));

    assertThat(pack(other).sha256()).isEqualTo(pack(repo).sha256());
  }

  @Test
  void whatIsCommittedHasTheDigestThatItHadBefore() {
    repo.file("new.py", "x = 1\n").file("train.py", "import new\n");
    PackedCode before = pack(repo);
    repo.commit();
    PackedCode after = pack(repo);

    assertThat(before.dirty()).isTrue();
    assertThat(after.dirty()).isFalse();
    assertThat(after.sha256()).isEqualTo(before.sha256());
    assertThat(after.head()).isNotEqualTo(before.head());
    assertThat(after.whatRuns()).hasToString(before.whatRuns().toString());
  }

  @Test
  void eachChangeOfTheContentChangesTheDigest() throws IOException {
    String before = pack(repo).sha256();
    List<String> digests = new ArrayList<>(List.of(before));
    repo.file("lib/data.py", "ROWS = 2\n");
    digests.add(pack(repo).sha256());
    repo.file("lib/data.py", "ROWS = 1\n").mode("lib/data.py", "rwxr-xr-x");
    digests.add(pack(repo).sha256());
    repo.mode("lib/data.py", "rw-r--r--").file("lib/more.py", "");
    digests.add(pack(repo).sha256());
    Files.delete(repo.path().resolve("lib/more.py"));
    Files.delete(repo.path().resolve("lib/latest.py"));
    repo.link("lib/latest.py", "more.py");
    digests.add(pack(repo).sha256());
    Files.delete(repo.path().resolve("lib/latest.py"));
    repo.link("lib/latest.py", "data.py");

    assertThat(digests).doesNotHaveDuplicates();
    assertThat(pack(repo).sha256()).isEqualTo(before);
  }

  @Test
  void trackedAndUntrackedFilesArePackedIgnoredAndDeletedOnesAreNot() throws IOException {
    repo.file("notes.txt", "untracked").file("a.log", "ignored").file("out/x", "ignored");
    Files.delete(repo.path().resolve("tools/go.sh"));

    assertThat(listed(pack(repo)))
        .containsExactly(
            ".gitignore",
            "lib/data.py",
            "lib/latest.py -> data.py",
            "notes.txt",
            "run.yaml",
            "train.py");
    assertThat(pack(repo).files()).isEqualTo(6);
  }

  @Test
  void tarUnpacksWhatTheTreeHolds() throws IOException {
    String odd = "with space\nand newline ä 日本";
    String deep = "d".repeat(120) + "/" + "e".repeat(200);
    repo.file(odd, "odd").file("-rf", "dash").file(deep, "deep").file("'$(id)`", "quotes");
    repo.link("long", "x/" + "y".repeat(150)).file("empty", "");
    repo.file("big.bin", "0123456789".repeat(30_000));
    PackedCode packed = pack(repo);
    Path archive = write(packed);

    Path there = Files.createDirectory(temp.resolve("unpacked"));
    CommandResult tar = run("tar", "-xzof", archive.toString(), "-C", there.toString());

    assertThat(tar.exit()).as(tar.err()).isZero();
    assertThat(tar.err()).isEmpty();
    for (String name : List.of(odd, "-rf", deep, "'$(id)`", "empty", "big.bin", "train.py")) {
      assertThat(there.resolve(name)).hasSameBinaryContentAs(repo.path().resolve(name));
    }
    assertThat(Files.readSymbolicLink(there.resolve("long")))
        .isEqualTo(Files.readSymbolicLink(repo.path().resolve("long")));
    assertThat(Files.isExecutable(there.resolve("tools/go.sh"))).isTrue();
    assertThat(there.resolve("train.py").toFile().canExecute()).isFalse();
    assertThat(run("gzip", "-t", archive.toString()).exit()).isZero();
    assertThat(Sha256.of(archive)).isEqualTo(packed.sha256());
  }

  @Test
  void excludesLeaveOutNamesAnywhereAndPathsFromTheTop() {
    repo.file("data/a.bin", "1").file("data/b/c.bin", "2").file("x/model.ckpt", "3");
    repo.file("model.ckpt", "4").file("sub/data/kept", "5").file("top.txt", "6");
    repo.file("sub/top.txt", "7");
    config("code: {exclude: ['data/**', '*.ckpt', /top.txt, tools/]}\n");

    assertThat(listed(pack(repo)))
        .containsExactly(
            ".gitignore",
            "lib/data.py",
            "lib/latest.py -> data.py",
            "run.yaml",
            "sub/data/kept",
            "sub/top.txt",
            "train.py");
  }

  /** Otherwise each submit would change the code of the next one. */
  @Test
  void whatNexaSlurmMakesInAWorkspaceIsNotPacked() {
    String before = pack(repo).sha256();
    repo.file("runs/train_1/plan.json", "{}").file("estimates/x.json", "{}");
    repo.file(".nexa/heartbeat.json", "{}").file("storage/scratch/x", "1");
    repo.file("code/" + before + ".tar.gz", "1");

    assertThat(pack(repo).sha256()).isEqualTo(before);
    assertThat(pack(repo).dirty()).isFalse();
    repo.file("code/mine.py", "1").file("lib/runs/x.py", "1");
    assertThat(listed(pack(repo))).contains("code/mine.py", "lib/runs/x.py");
  }

  @Test
  void aFolderInsideTheTreeIsPackedAlone() {
    config("code: {path: lib}\n");

    assertThat(listed(pack(repo))).containsExactly("data.py", "latest.py -> data.py");
    assertThat(pack(repo).script()).isEmpty();
    assertThat(pack(repo).dirty()).isFalse();
  }

  @Test
  void theScriptIsFoundInTheTree() {
    assertThat(pack(repo).script()).contains("train.py");
    repo.file("configs/train/run.yaml", CONFIG + "code: {}\n");

    assertThat(
            PackedCode.of(read("configs/train/run.yaml"), GitRepo.ENVIRONMENT, temp).orElseThrow())
        .satisfies(packed -> assertThat(packed.script()).contains("train.py"))
        .satisfies(packed -> assertThat(packed.root().getFileName()).hasToString("repo"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/etc/passwd", "../secret", "lib/../../x", "hop/../x"})
  void aLinkThatLeavesTheTreeIsRefused(String target) {
    repo.link("sub/hop", "..").link("out.py", target).link("sub/up", "hop/../x");

    refused(
        ErrorCode.FILE_OUTSIDE_FOLDER,
        "sub/up is a link to hop/../x, which is absolute or leads out of");
  }

  @Test
  void aTrackedFileBehindALinkIsNotRead() throws IOException {
    Path outside = Files.createDirectory(temp.resolve("outside"));
    Files.writeString(outside.resolve("data.py"), "secret");
    Files.move(repo.path().resolve("lib"), temp.resolve("lib.old"));
    repo.link("lib", outside.toString());

    refused(ErrorCode.FILE_OUTSIDE_FOLDER, "lib is a link to " + outside);
    config("code: {exclude: [/lib]}\n");
    assertThat(listed(pack(repo)))
        .containsExactly(".gitignore", "run.yaml", "tools/go.sh", "train.py");
  }

  @ParameterizedTest
  @ValueSource(strings = {".env", "deploy/.env.prod", "keys/id_rsa", "store.p12"})
  void filesOfSecretsAreRefusedByName(String name) {
    repo.file(name, "anything");

    refused(ErrorCode.CODE_HOLDS_SECRET, name + " looks like a file of");
    config("code: {exclude: [\"/" + name + "\"]}\n");
    assertThat(listed(pack(repo))).doesNotContain(name);
  }

  @Test
  void filesOfSecretsAreRefusedByContent() {
    repo.file("tls.pem", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n");
    refused(ErrorCode.CODE_HOLDS_SECRET, "tls.pem holds a private key");
    repo.file("tls.pem", "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n");
    repo.file("code.py", "KEY = '-----BEGIN PRIVATE KEY-----'\nPASSWORD=os.environ['X']\n");
    repo.file(".env.example", "TOKEN=\n");
    pack(repo);
    repo.file("a.py", "t = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'\n");
    refused(ErrorCode.CODE_HOLDS_SECRET, "a.py holds a token of GitHub");
  }

  @Test
  void aPipeAndASubmoduleAreRefused() throws IOException {
    Files.delete(repo.path().resolve("train.py"));
    run("mkfifo", repo.path().resolve("train.py").toString());
    refused(ErrorCode.FILE_NOT_REGULAR, "train.py is a pipe, a socket or a device");
    Files.delete(repo.path().resolve("train.py"));
    GitRepo.make(repo.path().resolve("third/apex")).file("x.py", "1").commit();
    refused(ErrorCode.CODE_UNSUITABLE, "third/apex is a git repository of its own");
    repo.git("add", "-A");
    refused(ErrorCode.CODE_UNSUITABLE, "third/apex is a git repository of its own");
    config("code: {exclude: ['/third/apex/**']}\n");
    assertThat(listed(pack(repo))).doesNotContain("third/apex/x.py").contains("lib/data.py");
  }

  @Test
  void aTreeThatIsTooLargeNamesItsLargestFiles() {
    for (int i = 1; i <= 4; i++) {
      repo.file("data/" + i + ".bin", "x".repeat(i * 300_000));
    }
    config("code: {max_size: 1M}\n");

    refused(
        ErrorCode.CODE_TOO_LARGE,
        "run.yaml:5:18: code.max_size: the files have 2.9 MiB, more than max_size 1M; the largest"
            + " are\n  1.1 MiB  data/4.bin\n  878.9 KiB  data/3.bin\n  585.9 KiB  data/2.bin");
  }

  @Test
  void withoutARepositoryOrGitItIsRefused() throws IOException {
    Path bare = Files.createDirectories(temp.resolve("bare"));
    Files.writeString(bare.resolve("run.yaml"), CONFIG + "code: {}\n");
    RunConfig config =
        new ConfigReader(new ConfigSource(bare), Map.of())
            .run(bare.resolve("run.yaml").toString(), List.of());

    assertThatThrownBy(() -> PackedCode.of(config, GitRepo.ENVIRONMENT, bare))
        .hasMessageContaining("not a git repository")
        .extracting(failed -> ((NexaException) failed).advice().get(0).toString())
        .asString()
        .contains(bare + " init");
    assertThatThrownBy(() -> PackedCode.of(config, Map.of("PATH", bare.toString()), bare))
        .hasMessageContaining("code: git cannot be started: there is no git on the PATH");
  }

  @Test
  void aGlobThatCannotBeReadNamesItsKey() {
    config("code: {exclude: ['a', '[z-a']}\n");

    refused(ErrorCode.CONFIG_INVALID_VALUE, "code.exclude.1: expected a glob such as");
  }

  /** A repository from somebody else must not start programs of its choice. */
  @Test
  void programsThatTheRepositoryNamesAreNotStarted() throws IOException {
    Path ran = temp.resolve("ran");
    repo.file(".gitattributes", "*.py filter=evil\n").commit();
    repo.git("config", "filter.evil.clean", "touch " + ran + "; cat");
    repo.git("config", "filter.evil.process", "touch " + ran);
    repo.git("config", "filter.evil.required", "true");
    repo.git("config", "core.fsmonitor", "touch " + ran);
    Path hook = repo.path().resolve(".git/hooks/post-index-change");
    Files.writeString(hook, "#!/bin/sh\ntouch " + ran + "\n");
    assertThat(hook.toFile().setExecutable(true)).isTrue();
    Files.setLastModifiedTime(repo.path().resolve("train.py"), FileTime.fromMillis(1));

    assertThat(pack(repo).dirty()).isFalse();
    assertThat(ran).doesNotExist();
  }

  @Test
  void factsForPeopleNameTheCommit() {
    String head = repo.git("rev-parse", "HEAD").strip();

    assertThat(pack(repo).head()).contains(head);
    assertThat(pack(repo).branch()).contains("main");
    assertThat(PackedCode.words(pack(repo).toJson()))
        .endsWith("commit " + head.substring(0, 12) + " of main");
    repo.file("train.py", "");
    repo.git("checkout", "-q", "--detach");
    assertThat(PackedCode.words(pack(repo).toJson()))
        .endsWith("commit " + head.substring(0, 12) + " with changes");
  }

  @Test
  void aTreeThatChangesBeforeItIsStoredIsRefused() {
    PackedCode packed = pack(repo);
    repo.file("train.py", "import lib.DATA\n");

    assertThatThrownBy(() -> packed.writeTo(OutputStream.nullOutputStream()))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("was changed while the code was packed");
  }

  private void config(String code) {
    repo.file("run.yaml", CONFIG + code);
  }

  private void refused(ErrorCode code, String message) {
    assertThatThrownBy(() -> pack(repo))
        .isInstanceOfSatisfying(
            NexaException.class, failed -> assertThat(failed.code()).isEqualTo(code))
        .hasMessageContaining(message);
  }

  private RunConfig read(String name) {
    return new ConfigReader(new ConfigSource(temp), Map.of())
        .run(repo.path().resolve(name).toString(), List.of());
  }

  private static PackedCode pack(GitRepo repo) {
    RunConfig config =
        new ConfigReader(new ConfigSource(repo.path()), Map.of())
            .run(repo.path().resolve("run.yaml").toString(), List.of());
    return PackedCode.of(config, GitRepo.ENVIRONMENT, repo.path()).orElseThrow();
  }

  private Path write(PackedCode packed) throws IOException {
    Path archive = temp.resolve("code.tar.gz");
    try (OutputStream out = Files.newOutputStream(archive)) {
      packed.writeTo(out);
    }
    return archive;
  }

  /** The paths in the archive's order, links with their target. */
  private static List<String> listed(PackedCode packed) {
    return packed.entries().stream()
        .map(entry -> entry.path() + (entry.isLink() ? " -> " + entry.target() : ""))
        .collect(Collectors.toList());
  }

  private CommandResult run(String... argv) throws IOException {
    return new CommandRunner()
        .run(new Command(List.of(argv), GitRepo.ENVIRONMENT, temp, Duration.ofMinutes(1)));
  }
}
