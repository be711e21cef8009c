package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans over a million objects in 256 MiB of heap, and over large trees. */
@Tag("full")
class MillionObjectsTest {
  private static final int OBJECTS = 1_000_000;
  private static final int FILES = 30_000;

  @Test
  void aMillionObjectsArePlannedIn256MiB(@TempDir Path folder) throws Exception {
    Files.createDirectories(folder.resolve("here"));

    assertThat(planned(folder, "256m", Direction.PULL))
        .contains("1000000 new, " + OBJECTS + " in order");
  }

  /** The names of one folder at a time are in memory. dev/sparse-plan does it at full size. */
  @Test
  void aTreeOf30TerabytesIsPlannedInASmallHeap(@TempDir Path folder) throws Exception {
    for (int i = 0; i < FILES; i++) {
      Path file =
          folder.resolve(
              String.format(
                  Locale.ROOT,
                  "here/checkpoints/train_%04d/shard_%07d_of_a_name_that_is_rather_long.safetensors",
                  i / 500,
                  i));
      if (i % 500 == 0) {
        Files.createDirectories(file.getParent());
      }
      try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
        sparse.setLength(1_000_000_000);
      }
    }

    assertThat(planned(folder, "8m", Direction.PUSH))
        .contains(FILES + " new, " + FILES + " in order");
  }

  private static String planned(Path folder, String heap, Direction direction) throws Exception {
    Process process =
        new ProcessBuilder(
                OwnJvm.words(
                    List.of("-Xmx" + heap),
                    MillionObjectsTest.class,
                    folder.resolve("here").toString(),
                    direction.name()))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    int status = process.waitFor();
    String log = Files.readString(folder.resolve("log"));
    assertThat(status).as(log).isZero();
    return log;
  }

  public static void main(String[] args) throws IOException {
    S3Place place = S3Place.parse("s3://bucket/p", "test");
    Direction direction = Direction.valueOf(args[1]);
    try (ObjectStore store = new Listing(direction == Direction.PULL ? OBJECTS : 0);
        SyncRun run =
            SyncRun.plan(
                Path.of(args[0]),
                place,
                store,
                SyncTrial.usual(),
                SyncTrial.options(direction),
                Progress.NONE)) {
      long[] seen = {0};
      run.planned().forEach(planned -> seen[0]++);
      System.out.println(run.planned().count(Kind.NEW).files() + " new, " + seen[0] + " in order");
    }
  }

  /** Lists so many objects, a thousand a page. */
  private static final class Listing extends OnlyLists {
    private final int all;

    Listing(int all) {
      this.all = all;
    }

    @Override
    public Page<Listed> list(String prefix, Optional<String> after) {
      int from = after.map(Integer::parseInt).orElse(0);
      List<Listed> objects = new ArrayList<>();
      for (int i = from; i < Math.min(all, from + 1000); i++) {
        String key =
            String.format(
                Locale.ROOT,
                "%scheckpoints/train_%04d/shard_%07d_of_a_name_that_is_rather_long.safetensors",
                prefix,
                i / 1000,
                i);
        objects.add(new Listed(key, 100_000, "0123456789abcdef0123456789abcdef", Instant.EPOCH));
      }
      int next = from + 1000;
      return new Page<>(
          objects, next < all ? Optional.of(Integer.toString(next)) : Optional.empty());
    }
  }
}
