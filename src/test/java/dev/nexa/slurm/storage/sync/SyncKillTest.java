package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Kills `sync push` and `sync pull` at random times, and lets them finish. dev/sync-faults kills
 * 200 times with -Dsync.kills=200.
 */
class SyncKillTest extends ServerAndProxy {
  private static final int LARGE = 40 << 20;

  @Test
  void aKilledSyncLeavesNoPartialFileAndSendsFewPartsAgain() throws Exception {
    int kills = Integer.getInteger("sync.kills", 10);
    int killed = 0;
    for (int trial = 0; trial < kills; trial += 2) {
      Path source = folder.resolve("source-" + trial);
      Path copy = folder.resolve("copy-" + trial);
      Files.createDirectories(copy);
      SyncTrial.write(source.resolve("large"), SyncTrial.bytes(random, LARGE));
      for (int i = 0; i < 20; i++) {
        SyncTrial.write(source.resolve("small/" + i), SyncTrial.bytes(random, 20_000));
      }
      Map<String, String> expected = SyncTrial.local(source);
      S3Place place = SyncTrial.place(server.address(), "k" + trial);
      proxy.partBytes().set(0);
      try (ObjectStore store = SyncTrial.open(place)) {
        killed += killedAfter(random, "push", source, place) ? 1 : 0;
        assertThat(expected).containsAllEntriesOf(SyncTrial.remote(store, place));
        assertThat(finished("push", source, place)).isZero();
        assertThat(SyncTrial.remote(store, place)).isEqualTo(expected);
        assertThat(proxy.partBytes().get())
            .isBetween((long) LARGE, LARGE + Upload.AT_ONCE * Upload.PART);

        killed += killedAfter(random, "pull", copy, place) ? 1 : 0;
        assertThat(expected).containsAllEntriesOf(SyncTrial.local(copy));
        assertThat(finished("pull", copy, place)).isZero();
        assertThat(SyncTrial.local(copy)).isEqualTo(expected);
      }
    }
    System.out.println(killed + " syncs killed");
    assertThat(killed).isGreaterThan(kills / 3);
  }

  private Process start(String step, Path root, S3Place place, String... more) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of("dev.nexa.slurm.command.Main", "sync", step, root.toString()));
    command.addAll(List.of(place.address(), "--endpoint", proxy.address().toString()));
    command.addAll(List.of("--threads", "4"));
    command.addAll(List.of(more));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectErrorStream(true).redirectOutput(folder.resolve("client.log").toFile());
    builder.environment().put("AWS_ACCESS_KEY_ID", S3Server.KEY);
    builder.environment().put("AWS_SECRET_ACCESS_KEY", S3Server.SECRET);
    builder.environment().put("AWS_REGION", "us-east-1");
    return builder.start();
  }

  /** Returns whether the process was killed before it ended by itself. */
  private boolean killedAfter(Random random, String step, Path root, S3Place place)
      throws Exception {
    Process process = start(step, root, place, "--bandwidth", "30M");
    boolean ended = process.waitFor(1200 + random.nextInt(1500), TimeUnit.MILLISECONDS);
    process.destroyForcibly();
    process.waitFor();
    return !ended;
  }

  private int finished(String step, Path root, S3Place place) throws Exception {
    int status = start(step, root, place).waitFor();
    if (status != 0) {
      System.out.println(Files.readString(folder.resolve("client.log")));
    }
    return status;
  }
}
