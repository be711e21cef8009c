package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills `sync push` and `sync pull` at random bytes, and lets them finish. dev/full sync kills 200
 * of each with -Dsync.kills=400.
 */
@Tag("full")
class SyncKillTest extends ServerAndProxy {
  private static final int LARGE = 40 << 20;
  private static final int SMALL = 20;
  private static final int SMALL_BYTES = 20_000;

  /** The rate of all connections together while a sync waits for its end. */
  private static final long RATE = 30_000_000;

  @Test
  void aKilledSyncLeavesNoPartialFileAndSendsAPartOfEachThreadAgain() throws Exception {
    int kills = SuiteSize.of("sync.kills", 2, 400);
    Map<Integer, Again> pushes = new TreeMap<>();
    Map<Integer, Again> pulls = new TreeMap<>();
    for (int trial = 0; trial < kills / 2; trial++) {
      int threads = trial % 2 == 0 ? 1 : Upload.AT_ONCE;
      Path source = folder.resolve("source-" + trial);
      Path copy = folder.resolve("copy-" + trial);
      Files.createDirectories(copy);
      SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, LARGE));
      for (int i = 0; i < SMALL; i++) {
        SyncTrial.write(source.resolve("small/" + i), SyncTrial.bytes(random, SMALL_BYTES));
      }
      Map<String, String> expected = SyncTrial.local(source);
      S3Place place = SyncTrial.place(server.address(), "k" + trial);
      try (ObjectStore store = SyncTrial.open(place)) {
        AtomicLong sent = proxy.partBytes();
        boolean killed = killed("push", source, place, threads, sent);
        assertThat(expected).containsAllEntriesOf(SyncTrial.remote(store, place));
        assertThat(finished("push", source, place, threads)).isZero();
        assertThat(SyncTrial.remote(store, place)).isEqualTo(expected);
        pushes.computeIfAbsent(threads, n -> new Again()).add(killed, sent.get() - LARGE);
        assertThat(sent.get()).isBetween((long) LARGE, LARGE + threads * Upload.PART);

        AtomicLong fetched = proxy.objectBytes();
        killed = killed("pull", copy, place, threads, fetched);
        assertThat(expected).containsAllEntriesOf(SyncTrial.local(copy));
        assertThat(finished("pull", copy, place, threads)).isZero();
        assertThat(SyncTrial.local(copy)).isEqualTo(expected);
        long once = LARGE + SMALL * SMALL_BYTES;
        pulls.computeIfAbsent(threads, n -> new Again()).add(killed, fetched.get() - once);
        // A small file that was not whole is fetched again, too.
        assertThat(fetched.get()).isBetween(once, once + threads * (Upload.PART + SMALL_BYTES));
      }
      SyncTrial.delete(source);
      SyncTrial.delete(copy);
    }
    System.out.println("pushes by threads " + pushes + ", pulls " + pulls);
    assertThat(Again.kills(pushes) + Again.kills(pulls)).isGreaterThan(kills * 2 / 3);
  }

  /** How many syncs were killed, and the bytes that went twice. */
  private static final class Again {
    private int kills;
    private long most;
    private long sum;

    void add(boolean killed, long bytes) {
      kills += killed ? 1 : 0;
      most = Math.max(most, bytes);
      sum += bytes;
    }

    static int kills(Map<Integer, Again> all) {
      return all.values().stream().mapToInt(one -> one.kills).sum();
    }

    @Override
    public String toString() {
      return kills + " kills, " + most + " bytes again at most, " + sum + " in all";
    }
  }

  private Process start(String step, Path root, S3Place place, int threads) throws IOException {
    List<String> command = OwnJvm.words(Main.class, "sync", step, root.toString());
    command.addAll(List.of(place.address(), "--endpoint", proxy.address().toString()));
    command.addAll(List.of("--threads", "" + threads));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("client.log").toFile());
    builder.environment().put("AWS_ACCESS_KEY_ID", S3Server.KEY);
    builder.environment().put("AWS_SECRET_ACCESS_KEY", S3Server.SECRET);
    builder.environment().put("AWS_REGION", "us-east-1");
    return builder.start();
  }

  /**
   * Kills a sync at a random byte of the large file.
   *
   * @param moved counts the bytes; is set to 0 first
   * @return whether the process was killed before it ended by itself
   */
  private boolean killed(String step, Path root, S3Place place, int threads, AtomicLong moved)
      throws Exception {
    moved.set(0);
    proxy.bytesPerSecond(RATE / threads);
    long at = 1L + random.nextInt(LARGE);
    Process process = start(step, root, place, threads);
    boolean ended = false;
    long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (!ended && moved.get() < at && System.nanoTime() < patience) {
      ended = process.waitFor(1, TimeUnit.MILLISECONDS);
    }
    process.destroyForcibly();
    process.waitFor();
    proxy.bytesPerSecond(0);
    return !ended;
  }

  private int finished(String step, Path root, S3Place place, int threads) throws Exception {
    int status = start(step, root, place, threads).waitFor();
    if (status != 0) {
      System.out.println(Files.readString(folder.resolve("client.log")));
    }
    return status;
  }
}
