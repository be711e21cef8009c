package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.NamesOfFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The listing gives all keys in order, or fails. */
class RemoteListingTest {
  private static final List<String> NAMES =
      List.of("a", "a.b", "a b", "a0", "b", "ü", "\uFF5E", "\uD83D\uDE00", "", "z");

  @TempDir private Path folder;

  @Test
  void givesAllKeysOfRandomTreesInOrder() throws IOException {
    for (int seed = 0; seed < SuiteSize.of("listing.trees", 900, 3000); seed++) {
      Random random = new Random(seed);
      Keys store = new Keys(randomKeys(random), 1 + random.nextInt(20));

      assertThat(listed(store)).as("seed " + seed).isEqualTo(store.relative());
    }
  }

  @Test
  void aRequestThatFailsNeverEndsTheListingEarly() throws IOException {
    int failed = 0;
    for (int seed = 0; seed < SuiteSize.of("listing.faults", 700, 2000); seed++) {
      Random random = new Random(seed);
      Keys store = new Keys(randomKeys(random), 1 + random.nextInt(20));
      store.failing = random.nextInt(20);
      try {
        assertThat(listed(store)).as("seed " + seed).isEqualTo(store.relative());
        assertThat(store.lists.get()).isLessThanOrEqualTo(store.failing);
      } catch (NexaException expected) {
        failed++;
      }
    }
    assertThat(failed).isGreaterThan(200);
  }

  /** As S3 Express does it. */
  @Test
  void aStoreThatListsInAnotherOrderIsFoundOut() throws IOException {
    Keys store = new Keys(largeFolders(), 10);
    store.shuffled = true;

    assertThatThrownBy(() -> listed(store)).hasMessageContaining("is not in UTF-8 order");
  }

  private static Collection<String> largeFolders() {
    Collection<String> keys = new TreeSet<>(NamesOfFiles.ORDER);
    for (int i = 0; i < 300; i++) {
      keys.add("p/data/" + i / 50 + "/" + i);
    }
    return keys;
  }

  private static Collection<String> randomKeys(Random random) {
    Collection<String> keys = new TreeSet<>(NamesOfFiles.ORDER);
    int names = 1 + random.nextInt(NAMES.size());
    int depth = 1 + random.nextInt(4);
    int all = random.nextInt(120);
    for (int i = 0; i < all; i++) {
      StringBuilder key = new StringBuilder("p/");
      for (int level = random.nextInt(depth); level > 0; level--) {
        key.append(NAMES.get(random.nextInt(names))).append('/');
      }
      keys.add(key.append(random.nextInt(6) == 0 ? "" : "f" + random.nextInt(40)).toString());
    }
    return keys;
  }

  private List<String> listed(Keys store) throws IOException {
    S3Place place = S3Place.parse("s3://bucket/p", "test");
    Sides sides = new Sides(new LocalTree(folder), place, store, SyncTrial.FAST, new Traffic(0));
    List<String> keys = new ArrayList<>();
    try (RemoteListing listing = new RemoteListing(sides)) {
      listing.forEachRemaining(object -> keys.add(object.key()));
    }
    return keys;
  }

  /** Keys in memory, so many on a page. */
  private static final class Keys extends OnlyLists {
    private final List<String> all;
    private final int onPage;
    private final AtomicInteger lists = new AtomicInteger();
    private boolean shuffled;

    /** The number of the request for a page that is refused. */
    private int failing = Integer.MAX_VALUE;

    Keys(Collection<String> keys, int onPage) {
      this.all = List.copyOf(keys);
      this.onPage = onPage;
    }

    List<String> relative() {
      return all.stream().map(key -> key.substring("p/".length())).toList();
    }

    @Override
    public Page<Listed> list(String prefix, Optional<String> after) {
      if (lists.getAndIncrement() == failing) {
        throw new StoreException(StoreException.Kind.REFUSED, "no");
      }
      List<String> keys =
          new ArrayList<>(all.stream().filter(key -> key.startsWith(prefix)).toList());
      if (shuffled) {
        java.util.Collections.shuffle(keys, new Random(prefix.hashCode()));
      }
      int from = after.map(Integer::parseInt).orElse(0);
      int end = Math.min(keys.size(), from + onPage);
      return new Page<>(
          keys.subList(from, end).stream().map(Keys::object).toList(),
          end < keys.size() ? Optional.of(Integer.toString(end)) : Optional.empty());
    }

    private static Listed object(String key) {
      return new Listed(key, 1, "etag", Instant.EPOCH);
    }
  }
}
