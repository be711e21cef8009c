package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random faults between us and a real S3 server. dev/full sync runs 200 trials with
 * -Dsync.faults=200; -Dsync.seed repeats one.
 */
@Tag("full")
class SyncFaultTest extends ServerAndProxy {
  @Test
  void noFaultMakesACorruptFileOrDeletesByMistake() throws IOException {
    int trials = SuiteSize.of("sync.faults", 4, 200);
    long seed = Long.getLong("sync.seed", 1);
    for (int trial = 0; trial < trials; trial++) {
      trial(seed + trial);
    }
    System.out.println(trials + " trials, " + proxy.faults() + " faults");
    assertThat(proxy.faults()).isGreaterThan(trials * 3L);
  }

  private void trial(long seed) throws IOException {
    Random random = new Random(seed);
    Path source = folder.resolve("source-" + seed);
    Path copy = folder.resolve("copy-" + seed);
    java.nio.file.Files.createDirectories(copy);
    S3Place direct = SyncTrial.place(server.address(), "t" + seed);
    S3Place faulty = SyncTrial.place(proxy.address(), "t" + seed);
    for (int i = 0; i < 12; i++) {
      SyncTrial.write(
          source.resolve("f" + i % 3).resolve("x" + i),
          SyncTrial.bytes(random, random.nextInt(50_000)));
    }
    if (seed % 4 == 0) {
      SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, 18 << 20));
    }
    Map<String, String> expected = SyncTrial.local(source);
    try (ObjectStore clean = SyncTrial.open(direct);
        ObjectStore store = SyncTrial.open(faulty)) {
      boolean pushed = faulty(source, faulty, store, Direction.PUSH, random);
      Map<String, String> objects = SyncTrial.remote(clean, direct);
      assertThat(expected).as("seed %s", seed).containsAllEntriesOf(objects);
      if (pushed) {
        assertThat(objects).as("seed %s", seed).isEqualTo(expected);
      }
      proxy.choose((method, target) -> Fault.NONE);
      assertThat(
              SyncTrial.sync(source, faulty, store, SyncTrial.options(Direction.PUSH))
                  .count(Outcome.FAILED))
          .isZero();
      assertThat(SyncTrial.remote(clean, direct)).as("seed %s", seed).isEqualTo(expected);

      SyncTrial.write(copy.resolve("only-here"), new byte[] {1});
      Map<String, String> mine = SyncTrial.local(copy);
      boolean pulled = faulty(copy, faulty, store, Direction.PULL, random);
      Map<String, String> files = SyncTrial.local(copy);
      Map<String, String> allowed = new TreeMap<>(expected);
      allowed.putAll(mine);
      assertThat(allowed).as("seed %s", seed).containsAllEntriesOf(files);
      if (!pulled) {
        assertThat(files).as("seed %s: deleted after a fault", seed).containsKey("only-here");
      }
      proxy.choose((method, target) -> Fault.NONE);
      SyncTrial.sync(copy, faulty, store, SyncTrial.deleting(Direction.PULL));
      assertThat(SyncTrial.local(copy)).as("seed %s", seed).isEqualTo(expected);
    }
  }

  /** Returns whether all was copied. */
  private boolean faulty(
      Path root, S3Place place, ObjectStore store, Direction direction, Random random) {
    // Refusals are no faults of the network, and end a sync.
    List<Fault> faults =
        List.copyOf(
            EnumSet.complementOf(
                EnumSet.of(Fault.DENIED_403, Fault.ARCHIVED_403, Fault.NOT_FOUND_404)));
    int percent = 5 + random.nextInt(40);
    boolean listingFails = random.nextInt(4) == 0;
    proxy.choose(
        (method, target) -> {
          synchronized (random) {
            if (listingFails && target.contains("list-type=2")) {
              return Fault.ERROR_500;
            }
            return random.nextInt(100) < percent
                ? faults.get(random.nextInt(faults.size()))
                : Fault.NONE;
          }
        });
    try {
      SyncOptions options =
          direction == Direction.PULL
              ? SyncTrial.deleting(direction)
              : SyncTrial.options(direction);
      return SyncTrial.sync(root, place, store, options).count(Outcome.FAILED) == 0;
    } catch (NexaException refused) {
      return false;
    }
  }
}
