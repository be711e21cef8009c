package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.storage.tiers.MeasureTier.Usage.UsageKey;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures a tier with find(1). Java does not report the allocated size of a file.
 *
 * <p>find reads one folder at a time and follows no link, so neither find nor this class holds the
 * tree in memory.
 */
public record MeasureTier(CommandRunner runner, Map<String, String> environment) {
  private static final Duration LONGEST = Duration.ofHours(12);

  /** Another find names the option; a path in a message has a slash and a reason behind it. */
  private static final Pattern NO_PRINTF = Pattern.compile("(?m)^find: [^/]*-printf[^/]*$");

  /** CommandRunner keeps so many bytes of the messages. */
  private static final int KEPT_MESSAGES = 64 * 1024;

  /** Creates a measurer that starts find with these variables, and messages in English. */
  public MeasureTier {
    environment = new HashMap<>(environment);
    environment.put("LC_ALL", "C");
  }

  /**
   * A measured tier.
   *
   * @param unread a message for each folder or file that could not be read; the sums lack it
   * @param free the bytes that this user can still write; the file system may count a quota here
   * @param size the bytes of the file system
   */
  public record Measured(TierRoot root, Usage usage, List<String> unread, long free, long size) {}

  /**
   * Measures the tier.
   *
   * @throws NexaException if find cannot be started, or does not know -printf
   */
  public Measured measure(TierRoot root, UsageKey by) {
    Usage usage = new Usage(by);
    FoundFiles files = new FoundFiles(usage);
    String path = root.path().toString();
    String facts = "%s %b %Ts %u %P\\0";
    List<String> argv =
        List.of("find", "-P", path, "-mindepth", "1", "!", "-type", "d", "-printf", facts);
    try {
      CommandResult result =
          runner.stream(new Command(argv, environment, root.path(), LONGEST), files, started -> {});
      if (result.timedOut() || (result.exit() != 0 && result.err().isBlank())) {
        throw failed(root, result.timedOut() ? "find took 12 hours" : "find ended early");
      }
      if (lacksPrintf(result.err())) {
        throw failed(root, "this find does not know -printf: " + result.err().strip());
      }
      FileStore store = Files.getFileStore(root.path());
      return new Measured(
          root, usage, unread(result.err()), store.getUsableSpace(), store.getTotalSpace());
    } catch (java.io.FileNotFoundException none) {
      throw failed(root, "there is no find on the PATH");
    } catch (IOException failed) {
      throw DurableFiles.failure("measure", root.path(), failed);
    }
  }

  static boolean lacksPrintf(String messages) {
    return NO_PRINTF.matcher(messages).find();
  }

  private static NexaException failed(TierRoot root, String why) {
    return ErrorCode.IO_FAILED.error(
        root.path() + " could not be measured: " + why, "install GNU findutils");
  }

  /** Returns find's messages, {@code find: '/a/b': Permission denied}, without its name. */
  static List<String> unread(String messages) {
    List<String> unread = new ArrayList<>();
    for (String line : messages.split("\n", -1)) {
      String text = line.startsWith("find: ") ? line.substring("find: ".length()) : line;
      // No sum lacks a file that a job removed meanwhile.
      if (!text.isBlank() && !text.endsWith("No such file or directory")) {
        unread.add(text);
      }
    }
    if (messages.length() >= KEPT_MESSAGES) {
      unread.add("and more folders; this shows all of them: find TIER >/dev/null");
    }
    return unread;
  }

  /**
   * Reads what find prints, {@code SIZE BLOCKS SECONDS USER PATH} and a NUL for each file, and adds
   * it up. It holds one record at a time.
   */
  static final class FoundFiles extends OutputStream {
    /** find's unit of a file's space on the disk. */
    private static final int BLOCK = 512;

    private static final int FIELDS = 5;

    /** A path has at most 4,096 bytes on Linux, but a tree may be deeper. */
    private static final int LONGEST = 1 << 20;

    private final Usage usage;
    private byte[] record = new byte[1024];
    private int length;

    FoundFiles(Usage usage) {
      this.usage = usage;
    }

    @Override
    public void write(int b) throws IOException {
      if (b == 0) {
        add(new String(record, 0, length, StandardCharsets.UTF_8));
        length = 0;
        return;
      }
      if (length == LONGEST) {
        throw new IOException("a path has more than " + LONGEST + " bytes");
      }
      if (length == record.length) {
        record = Arrays.copyOf(record, 2 * length);
      }
      record[length++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
      for (int i = offset; i < offset + count; i++) {
        write(bytes[i]);
      }
    }

    private void add(String text) throws IOException {
      String[] fields = text.split(" ", FIELDS);
      if (fields.length < FIELDS) {
        throw new IOException("find printed '" + text + "'");
      }
      try {
        long bytes = Long.parseLong(fields[0]);
        long allocated = Long.parseLong(fields[1]) * BLOCK;
        Instant modified = Instant.ofEpochSecond(Long.parseLong(fields[2]));
        usage.add(fields[4], fields[3], bytes, allocated, modified);
      } catch (NumberFormatException unreadable) {
        throw new IOException("find printed '" + text + "'", unreadable);
      }
    }
  }

  /**
   * Adds up files. It keeps one row for each key and no path of a file, so that its memory does not
   * grow with the number of files.
   */
  public static final class Usage {
    /**
     * The files of one key.
     *
     * @param bytes the sum of the files' lengths
     * @param allocated the space on the disk, which a sparse or compressed file has less of
     * @param oldest when the oldest file was modified; empty without files
     * @param newest when the newest file was modified; empty without files
     */
    public record Row(
        String key,
        long files,
        long bytes,
        long allocated,
        Optional<Instant> oldest,
        Optional<Instant> newest) {
      Row(String key) {
        this(key, 0, 0, 0, Optional.empty(), Optional.empty());
      }

      private Row and(long size, long onDisk, Instant modified) {
        return new Row(
            key,
            files + 1,
            bytes + size,
            allocated + onDisk,
            oldest.filter(modified::isAfter).or(() -> Optional.of(modified)),
            newest.filter(modified::isBefore).or(() -> Optional.of(modified)));
      }
    }

    private final UsageKey by;
    private Row total = new Row("");
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
      total = total.and(bytes, allocated, modified);
      String key = by.of(path, user);
      rows.put(key, rows.getOrDefault(key, new Row(key)).and(bytes, allocated, modified));
    }

    /** Returns the sum of all files. */
    public Row total() {
      return total;
    }

    /** Returns the rows, the largest first. */
    public List<Row> rows() {
      return rows.values().stream()
          .sorted(Comparator.comparingLong(Row::bytes).reversed().thenComparing(Row::key))
          .toList();
    }

    /** The property that groups the files of a tier. */
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
              throw ErrorCode.OPTION_INVALID.error(
                  "--by: expected run, user or folder, got '" + name + "'", "--by run");
        };
      }
    }
  }
}
