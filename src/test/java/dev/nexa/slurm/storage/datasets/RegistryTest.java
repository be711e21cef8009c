package dev.nexa.slurm.storage.datasets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.DatasetVersion.Status;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryTest {
  @TempDir Path folder;
  private Storage tiers = new Storage("", "", "", Optional.empty());
  private Registry registry = new Registry(tiers, DurableFiles.onDisk(), Duration.ZERO);
  private Path data = Path.of("");

  @BeforeEach
  void makeTiers() throws IOException {
    folder = folder.toRealPath();
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectories(folder.resolve(tier));
    }
    data = Files.createDirectories(folder.resolve("durable/datasets/science"));
    tiers =
        new Storage(folder + "/scratch", folder + "/durable", folder + "/shared", Optional.empty());
    registry = new Registry(tiers, DurableFiles.onDisk(), Duration.ofSeconds(20));
  }

  private void file(String name, String text) throws IOException {
    Path file = data.resolve(name);
    Files.createDirectories(file.resolveSibling(""));
    Files.writeString(file, text);
  }

  private Registry.Done register(String name, Optional<String> version) {
    return registry.register(
        TierPath.of(data.toString(), folder, tiers),
        name,
        version,
        JsonObject::new,
        file -> {},
        progress);
  }

  private final RecordedProgress progress = new RecordedProgress();

  private DatasetVersion register() {
    return register("science", Optional.empty()).version();
  }

  private List<String> verify(DatasetVersion version, boolean checksums) {
    List<String> changes = new ArrayList<>();
    registry.verify(
        version, checksums, one -> changes.add(one.kind().text() + " " + one.path()), progress);
    return changes;
  }

  private static void assertRefused(ErrorCode code, ThrowingCallable what) {
    assertThatThrownBy(what)
        .isInstanceOfSatisfying(
            NexaException.class, refused -> assertThat(refused.code()).isEqualTo(code));
  }

  @Test
  void theRootIsTheOneThatAPersonComputesWithTheShell() throws Exception {
    for (String name : List.of("a/z.txt", "a.txt", "a/b/c d.txt", "é.txt", "Z", "a-b", "ab")) {
      file(name, "content of " + name);
    }
    String shell =
        "{ echo nexa-dataset-1; find . -type f -printf '%P\\n' | LC_ALL=C sort | while IFS= read -r f; do"
            + " printf '%s %s %s\\n' \"$(sha256sum \"$f\" | cut -c -64)\" \"$(stat -c %s \"$f\")\" \"$f\"; done; }"
            + " | sha256sum | cut -c -64";
    Process process = new ProcessBuilder("bash", "-c", shell).directory(data.toFile()).start();
    String expected =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();

    DatasetVersion version = register();

    assertThat(version.root()).isEqualTo(expected);
    assertThat(version.files()).isEqualTo(7);
    assertThat(version.path()).isEqualTo("${durable}/datasets/science");
    assertThat(verify(version, true)).isEmpty();
  }

  @Test
  void eachChangedMissingAndAddedFileIsNamed() throws IOException {
    for (int i = 0; i < 20; i++) {
      file("part/" + i, "bytes of " + i);
    }
    DatasetVersion version = register();
    file("part/7", "bytes of 8");
    file("part/3", "more bytes of 3");
    Files.delete(data.resolve("part/19"));
    file("aaa", "new");
    file("zzz/y", "new");

    assertThat(verify(version, true))
        .containsExactly(
            "added aaa", "missing part/19", "changed part/3", "changed part/7", "added zzz/y");
    assertThat(progress.lines())
        .containsExactly("reading 20 files 210 bytes", "verifying 20/20 files 210/210 bytes");
    assertThat(verify(version, false)).doesNotContain("changed part/7").contains("changed part/3");
  }

  /** One byte of one file, at any place, is found and its file is named. */
  @Test
  void aChangedByteIsFound() throws IOException {
    Random random = new Random(5);
    byte[] bytes = new byte[300_000];
    random.nextBytes(bytes);
    Files.write(data.resolve("a"), bytes);
    file("b", "untouched");
    DatasetVersion version = register();
    for (int i = 0; i < 20; i++) {
      byte[] changed = bytes.clone();
      int at = random.nextInt(bytes.length);
      changed[at] = (byte) (changed[at] ^ 1 << random.nextInt(8));
      Files.write(data.resolve("a"), changed);
      assertThat(verify(version, true)).containsExactly("changed a");
    }
    Files.write(data.resolve("a"), bytes);
    assertThat(verify(version, true)).isEmpty();
  }

  @Test
  void aVersionNeverChanges() throws IOException {
    file("a", "one");
    DatasetVersion one = register();
    Registry.Done again = register("science", Optional.empty());
    file("a", "two");
    DatasetVersion two = register();

    assertThat(again.added()).isFalse();
    assertThat(one.reference()).isEqualTo("science@v1");
    assertThat(two.reference()).isEqualTo("science@v2");
    assertRefused(ErrorCode.FILE_EXISTS, () -> register("science", Optional.of("v1")));
    assertThat(registry.find("science").version()).isEqualTo("v2");
    assertThat(registry.find("science@" + one.root().substring(0, 8)).version()).isEqualTo("v1");
    assertThat(Files.getPosixFilePermissions(registry.list(one))).hasSize(3);
    List<String> changes = new ArrayList<>();
    registry.compare(one, two, change -> changes.add(change.kind().text() + " " + change.path()));
    assertThat(changes).containsExactly("changed a");
  }

  @Test
  void unknownNamesAreRefusedWithTheNearestOne() throws IOException {
    file("a", "one");
    register();
    assertThatThrownBy(() -> registry.find("sience@v1")).hasMessageContaining("'science'");
    assertRefused(ErrorCode.DATASET_UNKNOWN, () -> registry.find("science@v9"));
    assertRefused(ErrorCode.DATASET_UNKNOWN, () -> registry.find("science@" + "zz"));
    for (String name : List.of("../x", "a/b", "", "a\nb", "-a", "a@v1", "x".repeat(64))) {
      assertRefused(ErrorCode.OPTION_INVALID, () -> register(name, Optional.empty()));
    }
  }

  @Test
  void linksPipesAndNamesWithControlCharactersAreRefused() throws Exception {
    file("a", "one");
    Path link = Files.createSymbolicLink(data.resolve("link"), Path.of("/etc/passwd"));
    assertRefused(ErrorCode.FILE_NOT_REGULAR, this::register);
    Files.delete(link);
    Path folderLink = Files.createSymbolicLink(data.resolve("folder"), Path.of("/etc"));
    assertRefused(ErrorCode.FILE_NOT_REGULAR, this::register);
    Files.delete(folderLink);
    new ProcessBuilder("mkfifo", data.resolve("pipe").toString()).start().waitFor();
    assertRefused(ErrorCode.FILE_NOT_REGULAR, this::register);
    Files.delete(data.resolve("pipe"));
    for (String name : List.of("new\nline", "quo\"te", "back\\slash", "bell\u0007")) {
      file(name, "x");
      assertThatThrownBy(this::register)
          .isInstanceOf(NexaException.class)
          .message()
          .doesNotContain("\n", "\u0007");
      Files.delete(data.resolve(name));
    }
    assertThat(Files.exists(registry.file())).isFalse();
    try (Stream<Path> left = Files.list(registry.file().resolveSibling("datasets"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void dataOutsideTheTiersIsRefusedAlsoThroughALink() throws IOException {
    Path outside = Files.createDirectories(folder.resolve("elsewhere"));
    Files.writeString(outside.resolve("a"), "x");
    Path link = Files.createSymbolicLink(folder.resolve("durable/datasets/link"), outside);
    for (String typed :
        List.of(
            outside.toString(),
            link.toString(),
            folder + "/durable/../elsewhere",
            "${durable}/../elsewhere",
            "/",
            folder + "/durable")) {
      assertRefused(ErrorCode.FILE_OUTSIDE_FOLDER, () -> TierPath.of(typed, folder, tiers));
    }
    assertRefused(ErrorCode.FILE_NOT_FOUND, () -> TierPath.of("no\nsuch", folder, tiers));
    assertThat(
            TierPath.of("${shared}/../shared/../durable/datasets/science", folder, tiers).written())
        .isEqualTo("${durable}/datasets/science");
  }

  @Test
  void dataThatBecameALinkIsNotVerified() throws IOException {
    file("a", "one");
    DatasetVersion version = register();
    Path moved = Files.move(data, folder.resolve("durable/datasets/moved"));
    Files.createSymbolicLink(data, moved);

    assertRefused(ErrorCode.FILE_OUTSIDE_FOLDER, () -> verify(version, true));
    Files.delete(data);
    assertThat(verify(version, true)).containsExactly("missing a");
  }

  @Test
  void anEmptyFolderIsNoDataset() {
    assertRefused(ErrorCode.DATA_INVALID, this::register);
  }

  @Test
  void aBrokenRegistryIsNeverReplaced() throws IOException {
    file("a", "one");
    Files.createDirectories(registry.file().resolveSibling(""));
    for (String broken : List.of("a: {", "a: 1\na: 2\n", "- x\n", "a:\n  versions: 3\n")) {
      Files.writeString(registry.file(), broken);
      assertThatThrownBy(this::register).isInstanceOf(ConfigException.class);
      assertThat(registry.file()).hasContent(broken);
    }
    Files.delete(registry.file());
    Path other = Files.writeString(folder.resolve("other.yaml"), "a: {rows: 1}\n");
    Files.createSymbolicLink(registry.file(), other);
    assertRefused(ErrorCode.FILE_NOT_REGULAR, this::register);
    assertThat(other).hasContent("a: {rows: 1}\n");
  }

  @Test
  void aRegistryOfAMillionLinesIsReadOrRefusedInSeconds() throws IOException {
    Files.createDirectories(registry.file().resolveSibling(""));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 1_000_000; i++) {
      if (i == 250_000) {
        Files.writeString(registry.file(), text);
        long began = System.nanoTime();
        assertThat(registry.read()).hasSize(i);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(30));
      }
      text.append('d').append(i).append(": 1\n");
    }
    Files.writeString(registry.file(), text);
    assertRefused(ErrorCode.FILE_TOO_LARGE, registry::read);
  }

  @Test
  void aListThatSomebodyEditedIsNotBelieved() throws IOException {
    file("a", "one");
    file("b", "two");
    DatasetVersion version = register();
    Path list = registry.list(version);
    String text = Files.readString(list);
    for (String changed :
        List.of(text.replace("\"a\"", "\"c\""), text.substring(0, 100), "", "[]", "{}", "x")) {
      Files.delete(list);
      Files.writeString(list, changed);
      assertRefused(ErrorCode.RECORD_DAMAGED, () -> verify(version, true));
      List<String> said = new ArrayList<>();
      assertRefused(
          ErrorCode.RECORD_DAMAGED,
          () -> registry.verify(version, true, one -> said.add(one.path()), Progress.NONE));
      assertThat(said).as(changed).isEmpty();
      assertRefused(
          ErrorCode.RECORD_DAMAGED,
          () -> registry.compare(version, version, one -> said.add(one.path())));
    }
    Files.delete(list);
    assertRefused(ErrorCode.RECORD_DAMAGED, () -> verify(version, true));
  }

  @Test
  void underOneNameTheSameBytesAreOneVersion() throws IOException {
    file("a", "one");
    DatasetVersion one = register();
    assertThat(register("science", Optional.of("v9")).version().reference())
        .isEqualTo("science@v1");
    assertThat(register("science", Optional.of("v1")).added()).isFalse();
    registry.change(one, now -> now.with(Status.RETIRED, new JsonObject().with("by", "ada")));
    Path copy = Files.createDirectories(folder.resolve("durable/copy"));
    Files.copy(data.resolve("a"), copy.resolve("a"));
    data = copy;

    Registry.Done again = register("science", Optional.of("v9"));

    assertThat(again.added()).isFalse();
    assertThat(again.version().reference()).isEqualTo("science@v1");
    assertThat(register("other", Optional.empty()).added()).isTrue();
    assertThat(registry.read().get("science")).hasSize(1);
  }

  @Test
  void aLostOrDamagedListIsWrittenAgain() throws IOException {
    file("a", "one");
    DatasetVersion version = register();
    Path list = registry.list(version);
    String before = Files.readString(list);
    assertThat(register("science", Optional.empty()).restored()).isFalse();

    for (boolean lost : List.of(true, false)) {
      Files.delete(list);
      if (!lost) {
        Files.writeString(list, before.replace("\"bytes\":3", "\"bytes\":4"));
      }
      assertRefused(ErrorCode.RECORD_DAMAGED, () -> verify(version, true));

      Registry.Done again = register("science", Optional.empty());

      assertThat(again.restored()).isTrue();
      assertThat(again.added()).isFalse();
      assertThat(list).hasContent(before);
      assertThat(verify(version, true)).isEmpty();
    }
    file("a", "two");
    Files.delete(list);
    assertThat(register("science", Optional.empty()).version().version()).isEqualTo("v2");
    assertThat(list).as("other bytes are another list").doesNotExist();
  }

  /** A process died between the list and the registry. */
  @Test
  void aListWithoutAVersionKeepsItsNumber() throws IOException {
    file("a", "one");
    Path list = registry.file().resolveSibling("datasets").resolve("science@v1.json");
    Files.createDirectories(list.resolveSibling(""));
    Files.writeString(list, "left over");

    DatasetVersion version = register();

    assertThat(version.version()).isEqualTo("v2");
    assertThat(verify(version, true)).isEmpty();
    assertThat(list).hasContent("left over");
  }

  /** Somebody removed the newest entry by hand; runs were trained on it. */
  @Test
  void aNumberNeverGetsOtherBytes() throws IOException {
    file("a", "one");
    register();
    String before = Files.readString(registry.file());
    file("a", "two");
    assertThat(register().version()).isEqualTo("v2");
    Files.writeString(registry.file(), before);
    file("a", "three");

    assertThat(register().version()).isEqualTo("v3");
  }

  @Test
  void theFoldersAreAsWritableAsTheTier() throws IOException {
    Path tier = folder.resolve("durable");
    Files.setPosixFilePermissions(tier, PosixFilePermissions.fromString("rwxrwxrwx"));
    file("a", "one");
    register();

    for (String made : List.of("manifests", "manifests/datasets")) {
      assertThat(Files.getPosixFilePermissions(tier.resolve(made)))
          .isEqualTo(Files.getPosixFilePermissions(tier));
    }
  }

  @Test
  void aPathThatContainsTheTierIsAnswered() {
    assertThatThrownBy(() -> TierPath.of(folder.toString(), folder, tiers))
        .hasMessageStartingWith(
            folder + " contains the durable tier " + folder + "/durable; name a file or folder");
    assertThatThrownBy(() -> TierPath.of(folder + "/shared", folder, tiers))
        .hasMessageContaining(" is the shared tier ");
  }

  @Test
  void aChangeSeesTheVersionAsItIsNow() throws IOException {
    file("a", "one");
    DatasetVersion stale = register();
    registry.change(stale, now -> now.with("licence", "MIT"));
    registry.change(stale, now -> now.with(Status.PROMOTED, new JsonObject().with("by", "ada")));

    DatasetVersion now = registry.find("science@v1");
    assertThat(now.licence()).contains("MIT");
    assertThat(now.status()).isEqualTo(Status.PROMOTED);
  }
}
