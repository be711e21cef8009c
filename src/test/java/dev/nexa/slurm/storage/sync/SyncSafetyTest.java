package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncPlan.Skipped;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nothing is lost, and nothing is called equal that is not. */
class SyncSafetyTest extends ServerAndProxy {
  private static SyncReport push(Path root, S3Place place, ObjectStore store) {
    return SyncTrial.sync(root, place, store, SyncTrial.options(Direction.PUSH));
  }

  private static SyncReport pull(Path root, S3Place place, ObjectStore store) {
    return SyncTrial.sync(root, place, store, SyncTrial.options(Direction.PULL));
  }

  private static SyncRun plan(
      Path root, S3Place place, ObjectStore store, SyncOptions options, Filters.Rule... rules) {
    return SyncRun.plan(
        root, place, store, new Filters(List.of(rules)), options, SyncTrial.FAST, Progress.NONE);
  }

  private static SyncReport verify(Path root, S3Place place, ObjectStore store, boolean read) {
    try (SyncRun run =
        plan(root, place, store, new SyncOptions(Direction.PUSH, true, false, true, 0, 4))) {
      return run.compareOnly(read);
    }
  }

  /** An object that another program uploaded in parts: S3 keeps no digest of it. */
  private void foreign(ObjectStore store, String key, byte[] bytes) {
    String id = store.begin(key, new ObjectStore.Properties("unknown", Instant.EPOCH));
    Digests digests = new Digests();
    digests.update(bytes, 0, bytes.length);
    ObjectStore.Part part =
        store.send(
            key, id, 1, () -> new ByteArrayInputStream(bytes), bytes.length, digests.md5Base64());
    store.complete(key, id, List.of(part), Optional.empty());
  }

  @ParameterizedTest
  @EnumSource(names = {"EMPTY_200", "HTML_200", "ERROR_200"})
  void anAnswerThatIsNoListingDeletesNothing(Fault fault) throws IOException {
    Path source = tree();
    S3Place place = place();
    for (int i = 0; i < 1080; i++) {
      SyncTrial.write(source.resolve(String.format("f%04d", i)), new byte[] {1});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      for (int page = 1; page <= 2; page++) {
        int broken = page;
        AtomicInteger listings = new AtomicInteger();
        proxy.choose(
            (method, target) ->
                target.contains("list-type=2")
                        && (broken == 2
                            ? target.contains("continuation-token")
                            : listings.incrementAndGet() > 0)
                    ? fault
                    : Fault.NONE);
        assertThatThrownBy(
                () -> SyncTrial.sync(source, place, store, SyncTrial.deleting(Direction.PULL)))
            .isInstanceOf(NexaException.class)
            .hasMessageContaining("the listing failed")
            .hasMessageContaining(
                fault == Fault.ERROR_200 ? "InternalError" : "it is not an S3 listing");
      }
      assertThat(SyncTrial.local(source)).hasSize(1080);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"EMPTY_200", "HTML_200"})
  void anAnswerThatIsNoneOfS3MakesNoRecordOfAnUpload(Fault fault) throws IOException {
    Path source = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("small"), new byte[] {1});
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
    try (ObjectStore store = SyncTrial.open(place)) {
      proxy.choose(
          (method, target) -> method.equals("PUT") || method.equals("POST") ? fault : Fault.NONE);
      assertThat(push(source, place, store).count(Outcome.FAILED)).isEqualTo(2);
      noFault();
      assertThat(push(source, place, store).count(Outcome.COPIED)).isEqualTo(2);
      assertThat(SyncTrial.remote(store, place)).isEqualTo(SyncTrial.local(source));
    }
  }

  @Test
  void anErrorInsideAnAnswer200IsTriedAgain() throws IOException {
    Path source = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
    AtomicInteger completions = new AtomicInteger();
    proxy.choose(
        (method, target) ->
            method.equals("POST")
                    && target.contains("uploadId=")
                    && completions.incrementAndGet() <= 3
                ? Fault.ERROR_200
                : Fault.NONE);
    try (ObjectStore store = SyncTrial.open(place)) {
      assertThat(push(source, place, store).count(Outcome.COPIED)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DENIED_403", "ARCHIVED_403"})
  void anObjectThatIsRefusedDoesNotEndTheSync(Fault fault) throws IOException {
    Path source = tree();
    Path copy = tree();
    S3Place place = place();
    for (int i = 0; i < 40; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {(byte) i});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      proxy.choose((method, target) -> target.contains("/f7") ? fault : Fault.NONE);
      SyncReport report = pull(copy, place, store);
      assertThat(report.count(Outcome.COPIED)).isEqualTo(39);
      assertThat(report.named())
          .singleElement()
          .satisfies(
              named -> {
                assertThat(named.path()).isEqualTo("f7");
                assertThat(named.reason())
                    .contains(fault == Fault.DENIED_403 ? "AccessDenied" : "archived in Glacier");
              });
    }
  }

  @Test
  void nothingIsDeletedIfAFileCouldNotBeCopied() throws IOException {
    Path source = tree();
    S3Place place = place();
    for (int i = 0; i < 3; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {1});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      // Its new name is refused: the old object is the only copy in the bucket.
      Files.move(source.resolve("f2"), source.resolve("f7"));
      proxy.choose(
          (method, target) ->
              method.equals("PUT") && target.contains("/f7") ? Fault.DENIED_403 : Fault.NONE);

      SyncReport report = SyncTrial.sync(source, place, store, SyncTrial.deleting(Direction.PUSH));

      assertThat(report.count(Outcome.FAILED)).isEqualTo(1);
      assertThat(report.count(Outcome.NOT_DELETED)).isEqualTo(1);
      assertThat(SyncTrial.remote(store, place)).containsOnlyKeys("f0", "f1", "f2");
    }
  }

  @Test
  void manyRefusalsInARowEndTheSync() throws IOException {
    Path source = tree();
    S3Place place = place();
    for (int i = 0; i < 60; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {1});
    }
    proxy.choose((method, target) -> method.equals("PUT") ? Fault.DENIED_403 : Fault.NONE);
    try (ObjectStore store = SyncTrial.open(place)) {
      assertThatThrownBy(() -> push(source, place, store))
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("20 files in a row were refused");
    }
  }

  @Test
  void aFileThatChangedAtTheTargetIsNotDeleted() throws IOException {
    Path source = tree();
    Path copy = tree();
    S3Place place = place();
    for (int i = 0; i < 4; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {1});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      pull(copy, place, store);
      Files.delete(source.resolve("f1"));
      Files.delete(source.resolve("f2"));
      SyncTrial.sync(source, place, store, SyncTrial.deleting(Direction.PUSH));
      Files.writeString(copy.resolve("f1"), "my work of today");

      SyncReport report = SyncTrial.sync(copy, place, store, SyncTrial.deleting(Direction.PULL));

      assertThat(report.count(Outcome.CONFLICT)).isEqualTo(1);
      assertThat(report.named().get(0).reason())
          .isEqualTo("the file here was changed after the last sync; it was not deleted");
      assertThat(copy.resolve("f1")).exists();
      // Not while there is a conflict.
      assertThat(copy.resolve("f2")).exists();
      assertThat(report.count(Outcome.NOT_DELETED)).isEqualTo(1);
    }
  }

  @Test
  void aFolderThatBecameALinkDeletesNothingBelowIt() throws IOException {
    Path source = tree();
    Path big = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("run1/ck"), new byte[] {1});
    SyncTrial.write(source.resolve("run2.tmp/ck"), new byte[] {1});
    SyncTrial.write(source.resolve("run3"), new byte[] {1});
    SyncTrial.write(source.resolve("other"), new byte[] {1});
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      for (String name : List.of("run1", "run2.tmp", "run3")) {
        Files.move(source.resolve(name), big.resolve(name));
        Files.createSymbolicLink(source.resolve(name), big.resolve(name));
      }
      SyncReport report = SyncTrial.sync(source, place, store, SyncTrial.deleting(Direction.PUSH));
      assertThat(report.count(Outcome.DELETED)).isZero();
      assertThat(SyncTrial.remote(store, place)).hasSize(4);
      assertThat(verify(source, place, store, false).named())
          .extracting(SyncReport.Named::path)
          .containsExactlyInAnyOrder("run1/ck", "run2.tmp/ck", "run3");
    }
  }

  @Test
  void damagedBytesHereDoNotReplaceAGoodObject() throws IOException {
    Path source = tree();
    S3Place place = place();
    Path file = source.resolve("weights");
    SyncTrial.write(file, new byte[] {1, 2, 3});
    SyncOptions checksum = new SyncOptions(Direction.PUSH, false, false, true, 0, 4);
    SyncOptions restore = new SyncOptions(Direction.PULL, false, false, true, 0, 4);
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      Map<String, String> good = SyncTrial.local(source);
      FileTime time = Files.getLastModifiedTime(file);
      Files.write(file, new byte[] {1, 0, 3});
      Files.setLastModifiedTime(file, time);

      SyncReport report = SyncTrial.sync(source, place, store, checksum);

      assertThat(report.named().get(0).reason())
          .isEqualTo("its bytes changed, but its size and its time did not; it was not replaced");
      assertThat(SyncTrial.remote(store, place)).isEqualTo(good);
      SyncTrial.sync(source, place, store, restore);
      assertThat(SyncTrial.local(source)).isEqualTo(good);
    }
  }

  @Test
  void anObjectWithoutADigestIsNotCalledDamaged() throws IOException {
    Path copy = tree();
    S3Place place = place();
    byte[] bytes = SyncTrial.bytes(random, 9 << 20);
    try (ObjectStore store = SyncTrial.open(place)) {
      foreign(store, place.prefix() + "theirs", bytes);
      assertThat(pull(copy, place, store).count(Outcome.UNCHECKED)).isEqualTo(1);

      // The record has the SHA-256 of this version.
      assertThat(verify(copy, place, store, false).count(Outcome.SAME)).isEqualTo(1);

      SyncTrial.deleteRecords(copy);
      SyncReport unknown = verify(copy, place, store, false);
      assertThat(unknown.count(Outcome.NOT_COMPARED)).isEqualTo(1);
      assertThat(unknown.count(Outcome.DIFFERING)).isZero();
      assertThat(verify(copy, place, store, true).count(Outcome.SAME)).isEqualTo(1);
      // A sync without a record reads the object once, and copies nothing.
      SyncReport again = pull(copy, place, store);
      assertThat(again.count(Outcome.SAME)).isEqualTo(1);
      assertThat(again.count(Outcome.COPIED)).isZero();
    }
  }

  /** A power cut can leave zeros at the end of the bytes that were not forced to disk. */
  @Test
  void aDownloadWithoutADigestBeginsAgainAfterACrash() throws IOException {
    Path copy = tree();
    S3Place place = place();
    byte[] bytes = SyncTrial.bytes(random, 20 << 20);
    try (ObjectStore store = SyncTrial.open(place)) {
      foreign(store, place.prefix() + "theirs", bytes);
      AtomicInteger gets = new AtomicInteger();
      proxy.choose(
          (method, target) -> {
            boolean object = method.equals("GET") && !target.contains("?");
            return !object
                ? Fault.NONE
                : gets.incrementAndGet() == 1 ? Fault.TRUNCATED : Fault.DENIED_403;
          });
      assertThat(pull(copy, place, store).count(Outcome.FAILED)).isEqualTo(1);
      noFault();
      Path part = SyncTrial.onlyPart(copy);
      long half = Files.size(part);
      assertThat(half).isGreaterThan(1 << 20);
      try (FileChannel cut = FileChannel.open(part, StandardOpenOption.WRITE)) {
        cut.truncate(half - 1000);
        cut.write(java.nio.ByteBuffer.allocate(1000), half - 1000);
      }

      pull(copy, place, store);

      assertThat(copy.resolve("theirs")).hasBinaryContent(bytes);
    }
  }

  @Test
  void namesThatXmlCannotHoldAreSkippedAndDoNotBlockThePrefix() throws IOException {
    Path source = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("good"), new byte[] {1});
    SyncTrial.write(source.resolve("tab\there"), new byte[] {1});
    SyncTrial.write(source.resolve("esc\u001b[31m"), new byte[] {1});
    SyncTrial.write(source.resolve("real \uFFFD"), new byte[] {1});
    SyncTrial.write(
        source.resolve("k".repeat(255) + "/" + ("k".repeat(250) + "/").repeat(4) + "x"),
        new byte[] {1});
    try (ObjectStore store = SyncTrial.open(place)) {
      try (SyncRun run = plan(source, place, store, SyncTrial.options(Direction.PUSH))) {
        assertThat(run.planned().complete()).isFalse();
        assertThat(run.planned().skipped())
            .extracting(Skipped::reason)
            .containsExactlyInAnyOrder(
                "its name holds a character that S3's XML cannot hold",
                "its key would be longer than 1024 bytes");
        assertThat(run.execute(DeleteLimit.USUAL).count(Outcome.COPIED)).isEqualTo(3);
      }
      // Another program put it there.
      Map<String, String> all = new HashMap<>(SyncTrial.remote(store, place));
      byte[] one = {1};
      Digests digests = new Digests();
      digests.update(one, 0, 1);
      store.put(
          place.prefix() + "bell\u0007",
          () -> new ByteArrayInputStream(one),
          1,
          digests.md5Base64(),
          new ObjectStore.Properties("unknown", Instant.EPOCH),
          Optional.empty());
      Path copy = tree();
      assertThat(pull(copy, place, store).count(Outcome.COPIED)).isEqualTo(3);
      assertThat(SyncTrial.local(copy)).isEqualTo(all);
    }
  }

  @Test
  void aFileOfTheUserThatLooksLikeOursIsNamed() throws IOException {
    Path source = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve(".nexa-notes.txt"), new byte[] {1});
    SyncTrial.write(source.resolve("run/.nexa-resume/state"), new byte[] {1});
    SyncTrial.write(source.resolve("x"), new byte[] {1});
    try (ObjectStore store = SyncTrial.open(place);
        SyncRun run = plan(source, place, store, SyncTrial.options(Direction.PUSH))) {
      assertThat(run.planned().skipped())
          .extracting(Skipped::path)
          .containsExactly(".nexa-notes.txt");
      assertThat(run.planned().complete()).isTrue();
    }
  }

  @Test
  void aWrongAddressIsSaidAtOnce() throws IOException {
    Path source = tree();
    SyncTrial.write(source.resolve("x"), new byte[] {1});
    Map<String, String> wrong =
        Map.of(
            "http://no-such-host.invalid",
            "there is no host 'no-such-host.invalid'",
            "http://127.0.0.1:1",
            "nothing listens at 127.0.0.1:1",
            "https://127.0.0.1:" + server.port(),
            "does not speak TLS");
    wrong.forEach(
        (endpoint, message) -> {
          S3Place place = SyncTrial.place(java.net.URI.create(endpoint), "p");
          try (ObjectStore store = SyncTrial.open(place)) {
            assertThatThrownBy(() -> push(source, place, store))
                .isInstanceOf(NexaException.class)
                .hasMessageContaining(message);
          }
        });
    proxy.choose((method, target) -> Fault.NOT_FOUND_404);
    S3Place place = place();
    try (ObjectStore store = SyncTrial.open(place)) {
      assertThatThrownBy(() -> push(source, place, store))
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("is no S3 store, or its path is wrong");
    }
  }

  /** Two changes in one tick of the clock have the same time. */
  @Test
  void aFileThatChangesTwiceInOneTickIsSentAgain() throws IOException {
    Path source = tree();
    S3Place place = place();
    Path file = source.resolve("log");
    SyncTrial.write(file, new byte[] {1});
    FileTime now = FileTime.from(Instant.now());
    Files.setLastModifiedTime(file, now);
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      Files.write(file, new byte[] {2});
      Files.setLastModifiedTime(file, now);
      assertThat(push(source, place, store).count(Outcome.COPIED)).isEqualTo(1);
      assertThat(SyncTrial.remote(store, place)).isEqualTo(SyncTrial.local(source));
    }
  }

  @Test
  void aLargeFileMovesOverSeveralConnections() throws IOException {
    Path source = tree();
    Path copy = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, (40 << 20) + 7));
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    proxy.choose(
        (method, target) -> {
          boolean bytes = target.contains("/large") && !method.equals("HEAD");
          if (bytes) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            pause();
            running.decrementAndGet();
          }
          return Fault.NONE;
        });
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      assertThat(most.getAndSet(0)).isBetween(2, Upload.AT_ONCE);
      pull(copy, place, store);
      assertThat(most.get()).isBetween(2, 4);
      assertThat(SyncTrial.local(copy)).isEqualTo(SyncTrial.local(source));
    }
  }

  private static void pause() {
    try {
      Thread.sleep(300);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Files in one request and in parts; the umask of whoever pulls takes rights away. */
  @Test
  void aPulledFileGetsNoMoreRightsThanItHad() throws IOException {
    Path source = tree();
    Path copy = tree();
    S3Place place = place();
    List<Integer> modes = List.of(0600, 0644, 0755, 0640, 0400, 0700, 04755, 02755, 0444);
    for (int mode : modes) {
      for (int size : new int[] {1, 9 << 20}) {
        if (size > 1 && mode != 0600 && mode != 04755) {
          continue;
        }
        Path file = source.resolve(Integer.toOctalString(mode) + "_" + size);
        SyncTrial.write(file, SyncTrial.bytes(random, size));
        Files.setAttribute(file, "unix:mode", mode);
      }
    }
    Path usual = Files.createFile(folder.resolve("usual"));
    int reads = (Integer) Files.getAttribute(usual, "unix:mode") & 0777;
    int allowed = reads | (reads & 0444) >> 2;
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      SyncTrial.write(tree().resolve("x"), new byte[] {1});
      store.put(
          place.prefix() + "foreign",
          () -> new ByteArrayInputStream(new byte[0]),
          0,
          new Digests().md5Base64(),
          new ObjectStore.Properties("unknown", Instant.EPOCH),
          Optional.empty());
      pull(copy, place, store);
    }
    assertThat(SyncTrial.local(copy)).hasSize(modes.size() + 3);
    for (String name : SyncTrial.local(copy).keySet()) {
      int had =
          name.equals("foreign") ? 0666 : Integer.parseInt(name.replaceFirst("_.*", ""), 8) & 0777;
      assertThat((Integer) Files.getAttribute(copy.resolve(name), "unix:mode") & 07777)
          .as(name)
          .isEqualTo(had & allowed);
    }
  }

  /** Two folders, one address, a large file: the second push began before the first one ended. */
  @Test
  void aStoreThatDoesNotLookAtIfMatchLosesNoObject() throws IOException {
    for (boolean replaced : new boolean[] {false, true}) {
      Path one = tree();
      Path other = tree();
      S3Place place = place();
      try (ObjectStore store = SyncTrial.likeCeph(SyncTrial.open(place))) {
        if (replaced) {
          SyncTrial.write(one.resolve("large"), SyncTrial.bytes(random, 9 << 20));
          push(one, place, store);
          pull(other, place, store);
        }
        SyncTrial.write(one.resolve("large"), SyncTrial.bytes(random, 10 << 20));
        SyncTrial.write(other.resolve("large"), SyncTrial.bytes(random, 11 << 20));
        SyncOptions options = SyncTrial.options(Direction.PUSH);
        try (SyncRun second = plan(other, place, store, options)) {
          assertThat(push(one, place, store).count(Outcome.COPIED)).isEqualTo(1);
          SyncReport report = second.execute(new DeleteLimit(100, true));
          assertThat(report.count(Outcome.FAILED)).isEqualTo(1);
          assertThat(report.named().get(0).reason()).contains("the object in S3 changed since");
        }
        assertThat(SyncTrial.remote(store, place)).isEqualTo(SyncTrial.local(one));
      }
    }
  }

  @Test
  void aStoreIsAskedOnceWhetherItLooksAtIfMatch() throws IOException {
    for (boolean looks : new boolean[] {true, false}) {
      Path source = tree();
      S3Place place = place();
      SyncTrial.write(source.resolve("small"), new byte[] {1});
      ObjectStore opened = SyncTrial.open(place);
      try (ObjectStore store = looks ? opened : SyncTrial.likeCeph(opened)) {
        assertThat(push(source, place, store).note()).as("no large file").isEmpty();
        SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
        Optional<String> note = push(source, place, store).note();
        assertThat(note.isPresent()).isEqualTo(!looks);
        if (!looks) {
          assertThat(note.orElseThrow())
              .contains(place.address(), "does not look at If-Match when an upload in parts");
        }
        SyncTrial.write(source.resolve("larger"), SyncTrial.bytes(random, 10 << 20));
        assertThat(push(source, place, store).note()).as("once").isEmpty();
        assertThat(SyncTrial.remote(store, place)).isEqualTo(SyncTrial.local(source));
        assertThat(store.pending(place.prefix(), Optional.empty()).entries()).isEmpty();
      }
    }
  }

  @Test
  void thatAStoreDoesNotLookIsSaidAlsoAfterAPushThatEndedEarly() throws IOException {
    Path source = tree();
    S3Place place = place();
    for (int i = 0; i < 60; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {1});
    }
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
    proxy.choose(
        (method, target) ->
            method.equals("PUT") && target.contains("/f") ? Fault.DENIED_403 : Fault.NONE);
    try (ObjectStore store = SyncTrial.likeCeph(SyncTrial.open(place))) {
      assertThatThrownBy(() -> push(source, place, store)).isInstanceOf(NexaException.class);
      noFault();
      assertThat(push(source, place, store).note()).isPresent();
    }
  }

  @Test
  void aStoreIsAskedBeforeALargeObjectOfTheSameSizeIsReplaced() throws IOException {
    Path source = tree();
    Path copy = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
    try (ObjectStore store = SyncTrial.likeCeph(SyncTrial.open(place))) {
      push(source, place, store);
      pull(copy, place, store);
      SyncTrial.write(copy.resolve("large"), SyncTrial.bytes(random, 9 << 20));
      SyncReport report = push(copy, place, store);
      assertThat(report.count(Outcome.COPIED)).isEqualTo(1);
      assertThat(report.note()).isPresent();
    }
  }

  @Test
  void ofTwoPushesOfTheSameBytesNoneLeavesParts() throws IOException {
    Path one = tree();
    Path other = tree();
    S3Place place = place();
    byte[] large = SyncTrial.bytes(random, 9 << 20);
    SyncTrial.write(one.resolve("large"), large);
    SyncTrial.write(other.resolve("large"), large);
    try (ObjectStore store = SyncTrial.open(place);
        SyncRun second = plan(other, place, store, SyncTrial.options(Direction.PUSH))) {
      push(one, place, store);
      SyncReport report = second.execute(new DeleteLimit(100, true));
      assertThat(report.count(Outcome.COPIED)).isEqualTo(1);
      assertThat(store.pending(place.prefix(), Optional.empty()).entries()).isEmpty();
    }
  }

  @Test
  void aSmallObjectIsReplacedInAStoreThatKnowsNoQuotesInIfMatch() throws IOException {
    Path source = tree();
    Path other = tree();
    S3Place place = place();
    SyncTrial.write(source.resolve("a"), new byte[] {1});
    try (ObjectStore store = SyncTrial.open(place)) {
      push(source, place, store);
      pull(other, place, store);
      proxy.choose((method, target) -> method.equals("PUT") ? Fault.QUOTED_412 : Fault.NONE);
      SyncTrial.write(source.resolve("a"), new byte[] {2, 2});
      SyncTrial.write(other.resolve("a"), new byte[] {3, 3, 3});
      try (SyncRun late = plan(other, place, store, SyncTrial.options(Direction.PUSH))) {
        assertThat(push(source, place, store).count(Outcome.COPIED)).isEqualTo(1);
        assertThat(late.execute(new DeleteLimit(100, true)).count(Outcome.FAILED)).isEqualTo(1);
      }
      assertThat(SyncTrial.remote(store, place)).isEqualTo(SyncTrial.local(source));
    }
  }
}
