package dev.nexa.slurm.storage.tiers;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Adds up files. It keeps one row for each key and no path of a file, so that its memory does not
 * grow with the number of files.
 */
public final class Usage {
  /** The files of one key. */
  public static final class Row {
    private final String key;
    private long files;
    private long bytes;
    private long allocated;
    private @Nullable Instant oldest;
    private @Nullable Instant newest;

    Row(String key) {
      this.key = key;
    }

    private void add(long size, long onDisk, Instant modified) {
      files++;
      bytes += size;
      allocated += onDisk;
      oldest = oldest == null || modified.isBefore(oldest) ? modified : oldest;
      newest = newest == null || modified.isAfter(newest) ? modified : newest;
    }

    public String key() {
      return key;
    }

    public long files() {
      return files;
    }

    /** Returns the sum of the files' lengths. */
    public long bytes() {
      return bytes;
    }

    /** Returns the space on the disk, which a sparse or compressed file has less of. */
    public long allocated() {
      return allocated;
    }

    /** Returns when the oldest file was modified; empty without files. */
    public Optional<Instant> oldest() {
      return Optional.ofNullable(oldest);
    }

    /** Returns when the newest file was modified; empty without files. */
    public Optional<Instant> newest() {
      return Optional.ofNullable(newest);
    }
  }

  private final UsageKey by;
  private final Row total = new Row("");
  private final Map<String, Row> rows = new HashMap<>();

  public Usage(UsageKey by) {
    this.by = by;
  }

  /**
   * Adds a file.
   *
   * @param path its path below the tier
   * @param user its owner
   */
  void add(String path, String user, long bytes, long allocated, Instant modified) {
    total.add(bytes, allocated, modified);
    rows.computeIfAbsent(by.of(path, user), Row::new).add(bytes, allocated, modified);
  }

  /** Returns the sum of all files. */
  public Row total() {
    return total;
  }

  /** Returns the rows, the largest first. */
  public List<Row> rows() {
    List<Row> sorted = new ArrayList<>(rows.values());
    sorted.sort(
        Comparator.comparingLong(Row::bytes)
            .reversed()
            .thenComparing(Comparator.comparing(Row::key)));
    return sorted;
  }
}
