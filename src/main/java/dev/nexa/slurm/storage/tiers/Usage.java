package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** What the files of a tier are grouped by. */
  public enum UsageKey {
    /** The run that a folder on the way to the file is named after. */
    RUN,
    /** The owner of the file. */
    USER,
    /** The folder below the tier. */
    FOLDER;

    /** A folder of a run: its id, or {@code ID.n} if another workspace's run had the id. */
    private static final Pattern RUN_FOLDER =
        Pattern.compile(
            "(?:^|/)([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?(?:\\.\\d{1,2})?)(?=/|$|\\.log$)");

    private static final String NONE = "-";

    /**
     * Returns the key of a file.
     *
     * @param path the file's path below the tier
     * @return {@code -} for a file of no run, or beside the folders
     */
    String of(String path, String user) {
      int slash = path.indexOf('/');
      return switch (this) {
        case RUN -> run(path);
        case USER -> user;
        case FOLDER -> slash < 0 ? NONE : path.substring(0, slash);
      };
    }

    private static String run(String path) {
      Matcher run = RUN_FOLDER.matcher(path);
      return run.find() ? run.group(1) : NONE;
    }

    /** Returns the key with this name. */
    public static UsageKey named(String name) {
      return switch (name) {
        case "run" -> RUN;
        case "user" -> USER;
        case "folder" -> FOLDER;
        default ->
            throw new NexaException(
                ErrorCode.OPTION_INVALID,
                "--by: expected run, user or folder, got '" + name + "'",
                Advice.step("--by run"));
      };
    }
  }
}
