package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.storage.s3.ConnectionCounter;
import dev.nexa.slurm.storage.s3.FaultProxy;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.s3.S3Server;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncPlan.Skipped;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Both real S3 servers: what a sync guarantees without faults of the network. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SyncRoundTripTest {
  private final Random random = new Random(1);
  private final AtomicInteger counter = new AtomicInteger();
  private Path folder;
  private Map<String, S3Server> servers;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    Path one = Files.createDirectories(folder.resolve("s3proxy"));
    Path other = Files.createDirectories(folder.resolve("s3mock"));
    servers = new HashMap<>(Map.of("s3proxy", S3Server.proxy(one)));
    if (SuiteSize.FULL) {
      servers.put("s3mock", S3Server.mock(other));
    }
  }

  @AfterAll
  void stop() {
    servers.values().forEach(S3Server::close);
  }

  static List<String> kinds() {
    return SuiteSize.FULL ? List.of("s3proxy", "s3mock") : List.of("s3proxy");
  }

  private Path tree(String name) throws IOException {
    return Files.createDirectories(folder.resolve(name + counter.incrementAndGet()));
  }

  private S3Place place(String server) {
    return SyncTrial.place(servers.get(server).address(), "r" + counter.incrementAndGet());
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void copiesFilesOfAllSizesAndNamesThereAndBack(String server) throws IOException {
    Path source = tree("source");
    Path copy = tree("copy");
    S3Place place = place(server);
    SyncTrial.write(source.resolve("empty"), new byte[0]);
    SyncTrial.write(source.resolve("a b/ü 名/+%&=.txt"), SyncTrial.bytes(random, 100));
    SyncTrial.write(source.resolve("a/b"), SyncTrial.bytes(random, 1000));
    SyncTrial.write(source.resolve("a.b"), SyncTrial.bytes(random, 1000));
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, (17 << 20) + 3));
    Map<String, String> expected = SyncTrial.local(source);
    SyncTrial.write(source.resolve("writing.tmp"), new byte[] {1});
    SyncTrial.write(source.resolve(".nexa-resume/x"), new byte[] {1});
    Files.createSymbolicLink(source.resolve("link"), Path.of("/etc"));
    Files.setLastModifiedTime(source.resolve("a/b"), FileTime.from(Instant.ofEpochSecond(10)));

    RecordedProgress progress = new RecordedProgress();
    try (ObjectStore store = SyncTrial.open(place)) {
      try (SyncRun run =
          SyncRun.plan(
              source,
              place,
              store,
              SyncTrial.usual(),
              SyncTrial.options(Direction.PUSH),
              progress)) {
        assertThat(run.planned().skipped()).extracting(Skipped::path).containsExactly("link");
        assertThat(run.execute(DeleteLimit.USUAL).count(Outcome.COPIED)).isEqualTo(5);
      }
      assertThat(progress.lines())
          .containsExactly("comparing 5 files", "copying 5/5 files 17827895/17827895 bytes");
      assertThat(SyncTrial.remote(store, place)).isEqualTo(expected);
      SyncTrial.sync(copy, place, store, SyncTrial.options(Direction.PULL));
      assertThat(SyncTrial.local(copy)).isEqualTo(expected);
      assertThat(Files.getLastModifiedTime(copy.resolve("a/b")).toInstant())
          .isEqualTo(Instant.ofEpochSecond(10));
      for (Path side : List.of(source, copy)) {
        try (SyncRun again =
            SyncRun.plan(
                side,
                place,
                store,
                SyncTrial.usual(),
                SyncTrial.options(Direction.PUSH),
                Progress.NONE)) {
          assertThat(again.planned().count(Kind.SAME).files()).isEqualTo(5);
        }
      }
    }
  }

  /** A new connection for each file would cost a TLS handshake for each file. */
  @ParameterizedTest
  @MethodSource("kinds")
  void filesShareTheConnections(String server) throws IOException {
    int files = 60;
    Path source = tree("source");
    Path copy = tree("copy");
    for (int i = 0; i < files; i++) {
      SyncTrial.write(source.resolve("f" + i), SyncTrial.bytes(random, i * 1000));
    }
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, (60 << 20) + 3));
    try (ConnectionCounter counter = new ConnectionCounter(servers.get(server).port())) {
      S3Place place = SyncTrial.place(counter.address(), "r" + this.counter.incrementAndGet());
      SyncOptions pushing = SyncTrial.options(Direction.PUSH);
      int most = 2 * pushing.threads() + 2;
      try (ObjectStore store = SyncTrial.open(place)) {
        SyncTrial.sync(source, place, store, pushing);
      }
      assertThat(counter.connections()).isBetween(1, most);
      try (ObjectStore store = SyncTrial.open(place)) {
        SyncTrial.sync(copy, place, store, SyncTrial.options(Direction.PULL));
        assertThat(SyncTrial.local(copy)).isEqualTo(SyncTrial.local(source));
      }
      assertThat(counter.connections()).isBetween(1, most);
      SyncTrial.deleteRecords(copy);
      try (ObjectStore store = SyncTrial.open(place)) {
        SyncTrial.sync(copy, place, store, SyncTrial.options(Direction.PULL));
      }
      assertThat(counter.connections()).isBetween(1, most);
    }
  }

  /** More than a page: the folders are listed at once. */
  @ParameterizedTest
  @MethodSource("kinds")
  void aTreeOfLargeFoldersIsListedWhole(String server) throws IOException {
    Path source = tree("source");
    S3Place place = place(server);
    for (int i = 0; i < 1200; i++) {
      SyncTrial.write(source.resolve("data/ü x/" + i), new byte[] {1});
    }
    for (String other : List.of("data/a/1", "data/ü", "data/ü y/b/c", "data/z", "e+f/%25", "g")) {
      SyncTrial.write(source.resolve(other), new byte[] {1});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      SyncTrial.sync(source, place, store, SyncTrial.options(Direction.PUSH));
      Sides sides = new Sides(new LocalTree(source), place, store, SyncTrial.FAST, new Traffic(0));
      try (RemoteListing listing = new RemoteListing(sides);
          LocalTree.Walk walk = sides.tree().walk(SyncTrial.usual(), skipped -> {})) {
        assertThat(listing)
            .toIterable()
            .extracting(ObjectStore.Listed::key)
            .containsExactlyElementsOf(paths(walk));
      }
    }
  }

  private static List<String> paths(LocalTree.Walk walk) {
    List<String> paths = new java.util.ArrayList<>();
    walk.forEachRemaining(file -> paths.add(file.path()));
    return paths;
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void anObjectThatSomebodyElseChangedIsNotReplaced(String server) throws IOException {
    Path source = tree("source");
    S3Place place = place(server);
    SyncTrial.write(source.resolve("x"), new byte[] {1});
    try (ObjectStore store = SyncTrial.open(place)) {
      SyncTrial.sync(source, place, store, SyncTrial.options(Direction.PUSH));
      String theirs = put(store, place.prefix() + "x", new byte[] {2, 2}, true);
      SyncTrial.write(source.resolve("x"), new byte[] {3, 3, 3});

      SyncReport report = SyncTrial.sync(source, place, store, SyncTrial.options(Direction.PUSH));

      assertThat(report.count(Outcome.CONFLICT)).isEqualTo(1);
      assertThat(store.head(place.prefix() + "x").orElseThrow().etag()).isEqualTo(theirs);
    }
  }

  /** The same after the plan: If-Match and If-None-Match. */
  @ParameterizedTest
  @MethodSource("kinds")
  void twoSyncsAtOnceNeverOverwriteEachOther(String server) throws IOException {
    Path source = tree("source");
    S3Place place = place(server);
    SyncTrial.write(source.resolve("new"), new byte[] {1});
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 9 << 20));
    try (ObjectStore store = SyncTrial.open(place);
        SyncRun run =
            SyncRun.plan(
                source,
                place,
                store,
                SyncTrial.usual(),
                SyncTrial.options(Direction.PUSH),
                Progress.NONE)) {
      put(store, place.prefix() + "new", new byte[] {2, 2}, false);
      put(store, place.prefix() + "large", new byte[] {2, 2}, false);

      SyncReport report = run.execute(DeleteLimit.USUAL);

      assertThat(report.count(Outcome.FAILED)).isEqualTo(2);
      assertThat(store.head(place.prefix() + "new").orElseThrow().bytes()).isEqualTo(2);
      assertThat(store.head(place.prefix() + "large").orElseThrow().bytes()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void anObjectThatChangesDuringADownloadLeavesNoFile(String server) throws IOException {
    Path source = tree("source");
    Path copy = tree("copy");
    S3Place place = place(server);
    SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 12 << 20));
    try (ObjectStore store = SyncTrial.open(place);
        FaultProxy proxy = new FaultProxy(servers.get(server).port())) {
      SyncTrial.sync(source, place, store, SyncTrial.options(Direction.PUSH));
      AtomicInteger gets = new AtomicInteger();
      proxy.choose(
          (method, target) -> {
            boolean object = method.equals("GET") && !target.contains("?");
            if (object && gets.incrementAndGet() == 2) {
              put(store, place.prefix() + "large", SyncTrial.bytes(random, 12 << 20), true);
            }
            return object && gets.get() == 1 ? Fault.TRUNCATED : Fault.NONE;
          });
      S3Place faulty = SyncTrial.place(proxy.address(), place.prefix());
      try (ObjectStore through = SyncTrial.open(faulty)) {
        SyncReport report =
            SyncTrial.sync(copy, faulty, through, SyncTrial.options(Direction.PULL));

        assertThat(report.count(Outcome.FAILED)).isEqualTo(1);
        assertThat(SyncTrial.local(copy)).isEmpty();
      }
      assertThat(
              SyncTrial.sync(copy, place, store, SyncTrial.options(Direction.PULL))
                  .count(Outcome.FAILED))
          .isZero();
      assertThat(SyncTrial.local(copy)).isEqualTo(SyncTrial.remote(store, place));
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void deletesOnlyWithinTheLimitAndNotIfTheSourceIsEmpty(String server) throws IOException {
    Path source = tree("source");
    S3Place place = place(server);
    for (int i = 0; i < 10; i++) {
      SyncTrial.write(source.resolve("f" + i), new byte[] {1});
    }
    try (ObjectStore store = SyncTrial.open(place)) {
      SyncTrial.sync(source, place, store, SyncTrial.options(Direction.PUSH));
      Files.delete(source.resolve("f1"));
      Files.delete(source.resolve("f2"));
      try (SyncRun run =
          SyncRun.plan(
              source,
              place,
              store,
              SyncTrial.usual(),
              SyncTrial.deleting(Direction.PUSH),
              Progress.NONE)) {
        assertThatThrownBy(() -> run.execute(DeleteLimit.USUAL))
            .isInstanceOf(NexaException.class)
            .hasMessageContaining("2 of 10 files would be deleted");
      }
      assertThat(SyncTrial.remote(store, place)).hasSize(10);
      assertThat(
              SyncTrial.sync(source, place, store, SyncTrial.deleting(Direction.PUSH))
                  .count(Outcome.DELETED))
          .isEqualTo(2);
      assertThat(SyncTrial.remote(store, place)).hasSize(8);
      Path empty = tree("empty");
      assertThatThrownBy(
              () -> SyncTrial.sync(empty, place, store, SyncTrial.deleting(Direction.PUSH)))
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("the source has no files");
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void findsAndRemovesUploadsThatNobodyCompleted(String server) throws IOException {
    S3Place place = place(server);
    try (ObjectStore store = SyncTrial.open(place)) {
      store.begin(
          place.prefix() + "left", new ObjectStore.Properties("0".repeat(64), Instant.EPOCH));
      Clutter leftovers = new Clutter(store, place.prefix(), Progress.NONE);

      assertThat(leftovers.uploadsBefore(Instant.now().minusSeconds(3600))).isEmpty();
      List<ObjectStore.Pending> found = leftovers.uploadsBefore(Instant.now().plusSeconds(60));
      assertThat(found)
          .extracting(ObjectStore.Pending::key)
          .containsExactly(place.prefix() + "left");
      leftovers.abort(found);
      assertThat(leftovers.uploadsBefore(Instant.now().plusSeconds(60))).isEmpty();
    }
  }

  private static String put(ObjectStore store, String key, byte[] bytes, boolean replace) {
    try {
      String md5 =
          Base64.getEncoder()
              .encodeToString(java.security.MessageDigest.getInstance("MD5").digest(bytes));
      return store.put(
          key,
          () -> new ByteArrayInputStream(bytes),
          bytes.length,
          md5,
          new ObjectStore.Properties(
              dev.nexa.slurm.base.files.Sha256.of(bytes), Instant.ofEpochSecond(1)),
          replace ? store.head(key).map(ObjectStore.Stored::etag) : Optional.empty());
    } catch (java.security.NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
