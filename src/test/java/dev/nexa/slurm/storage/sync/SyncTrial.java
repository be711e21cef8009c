package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.storage.s3.S3Server;
import dev.nexa.slurm.storage.s3.S3Stores;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What tests with a real S3 server share: places, syncs, and the digests of both sides. */
final class SyncTrial {
  static final Retry FAST =
      new Retry(6, Backoff.between(Duration.ofMillis(5), Duration.ofMillis(50)));

  static {
    System.setProperty("aws.accessKeyId", S3Server.KEY);
    System.setProperty("aws.secretAccessKey", S3Server.SECRET);
    System.setProperty("aws.region", "us-east-1");
  }

  private SyncTrial() {}

  static S3Place place(URI endpoint, String prefix) {
    S3Place place = S3Place.parse("s3://" + S3Server.BUCKET + "/" + prefix, "test");
    S3Settings store =
        S3Settings.NONE.with(
            Optional.of(endpoint.toString()), Optional.of("us-east-1"), Optional.empty());
    return place.in(store, Optional.empty(), 8);
  }

  static ObjectStore open(S3Place place) {
    return new S3Stores().open(place);
  }

  /**
   * A store as Ceph 16.2: it replaces any version when it completes an upload in parts, and answers
   * without the new version, which is no answer of S3.
   */
  static ObjectStore likeCeph(ObjectStore store) {
    return (ObjectStore)
        Proxy.newProxyInstance(
            ObjectStore.class.getClassLoader(),
            new Class<?>[] {ObjectStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("complete")) {
                arguments[3] = store.head((String) arguments[0]).map(ObjectStore.Stored::etag);
              }
              try {
                Object answer = method.invoke(store, arguments);
                if (method.getName().equals("complete")) {
                  throw new StoreException(StoreException.Kind.BUSY, "without a version");
                }
                return answer;
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  static SyncOptions options(Direction direction) {
    return new SyncOptions(direction, false, false, false, 0, 4);
  }

  static SyncOptions deleting(Direction direction) {
    return new SyncOptions(direction, true, false, false, 0, 4);
  }

  static Filters usual() {
    return new Filters(List.of(Filters.UNFINISHED));
  }

  /** Syncs, without a limit on deletions. */
  static SyncReport sync(Path root, S3Place place, ObjectStore store, SyncOptions options) {
    try (SyncRun run = SyncRun.plan(root, place, store, usual(), options, FAST, Progress.NONE)) {
      return run.execute(new DeleteLimit(100, true));
    }
  }

  /** Removes what syncs of a folder remember. */
  static void deleteRecords(Path root) throws IOException {
    delete(root.resolve(SyncState.FOLDER));
  }

  /** Removes a folder and what is in it. */
  static void delete(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Returns the only unfinished download of a folder. */
  static Path onlyPart(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root.resolve(SyncState.FOLDER))) {
      return all.filter(path -> path.toString().endsWith(".part")).findFirst().orElseThrow();
    }
  }

  static byte[] bytes(Random random, int size) {
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    return bytes;
  }

  static void write(Path file, byte[] bytes) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
    // A file that was written right now is compared again by the next sync.
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(10)));
  }

  /** The digests of all files but ours. */
  static Map<String, String> local(Path root) throws IOException {
    Map<String, String> digests = new TreeMap<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes facts) {
            return folder.endsWith(SyncState.FOLDER)
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes facts)
              throws IOException {
            if (facts.isRegularFile()) {
              digests.put(root.relativize(file).toString(), Sha256.of(file));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return digests;
  }

  /** The digests of all objects, read byte by byte. */
  static Map<String, String> remote(ObjectStore store, S3Place place) throws IOException {
    Map<String, String> digests = new TreeMap<>();
    Optional<String> after = Optional.empty();
    do {
      ObjectStore.Page<ObjectStore.Listed> page = store.list(place.prefix(), after);
      for (ObjectStore.Listed object : page.entries()) {
        try (ObjectStore.Body body = store.get(object.key(), object.etag(), 0, ObjectStore.END)) {
          digests.put(
              object.key().substring(place.prefix().length()), Sha256.of(body.in().readAllBytes()));
        }
      }
      after = page.next();
    } while (after.isPresent());
    return digests;
  }
}
