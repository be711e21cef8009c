package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.LockOwner;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The ledger, {@code runs/ledger-YYYY-MM.jsonl}. In a workspace of several users each of them has
 * files of their own, {@code runs/ledger-YYYY-MM.USER.jsonl}. The ledger has a line for each time a
 * run ended, in the month of its end, so that sums over many runs read few files. The ledger can be
 * rebuilt from the manifests and cost files.
 */
public record Ledger(Workspace workspace) {
  private static final DateTimeFormatter MONTH =
      DateTimeFormatter.ofPattern("yyyy-MM").withZone(ZoneOffset.UTC);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Bytes that are searched for an equal line: some hundred lines. */
  private static final int TAIL = 1 << 18;

  private static final int MONTH_END = "ledger-YYYY-MM".length();
  private static final long WHOLE = -1;

  /**
   * Appends a run's line, unless the end of the file already has it, because an earlier pass died
   * after it had appended the line. A line that is no longer near the end is written twice; readers
   * use the newest one. A run whose tasks ran again gets another line when it ends again, perhaps
   * in another month; the newest line covers the whole run.
   */
  public void add(RunId id, Instant ended, JsonObject line) {
    Path file = workspace.own(workspace.runs(), "ledger-" + MONTH.format(ended), ".jsonl");
    try (FileLock held = lock(workspace.ledgerLock())) {
      Tail tail = held.holds() && Files.exists(file) ? tail(file) : new Tail("", WHOLE);
      if (tail.torn != WHOLE) {
        workspace.files().truncate(file, tail.torn);
      }
      String sealed = sealed(line) + "\n";
      int last = tail.lines.lastIndexOf("\n{\"run_id\":\"" + id + "\"");
      if (last < 0 || !tail.lines.startsWith(sealed, last + 1)) {
        workspace.files().append(file, sealed);
      }
    }
  }

  /** Returns the files, oldest month first; empty if no run has ended yet. */
  public List<Path> files() {
    return files(new ArrayList<>());
  }

  /**
   * Returns the files, oldest month first; empty if no run has ended yet.
   *
   * @param problems receives a sentence for each file that is left out, because another user than
   *     the one in its name has put it there
   */
  List<Path> files(List<String> problems) {
    List<Path> files = new ArrayList<>();
    boolean shared = workspace.isShared();
    for (Path file : DurableFiles.list(workspace.runs(), "ledger-????-??{.*,}.jsonl")) {
      String owner = shared ? Workspace.ownerOf(file) : "";
      // In a workspace of one user, a copy of a month under another name must not count twice.
      if (shared ? owner.equals(user(file)) : part(file).isEmpty()) {
        files.add(file);
      } else if (shared) {
        problems.add(file + " belongs to " + owner + ": its lines are not counted");
      }
    }
    return files;
  }

  /** Returns the user whose runs a file of a shared workspace holds. */
  private String user(Path file) {
    String part = part(file);
    return part.isEmpty() ? Workspace.ownerOf(workspace.runs()) : part.substring(1);
  }

  /** Returns the user in a file's name after a full stop; empty if the name has none. */
  static String part(Path file) {
    String name = file.getFileName().toString();
    return name.substring(MONTH_END, name.length() - ".jsonl".length());
  }

  /** Returns the month of a file, such as {@code 2025-11}. */
  public static String month(Path file) {
    return file.getFileName().toString().substring("ledger-".length(), MONTH_END);
  }

  /**
   * Waits up to 30 seconds for a lock of the workspace and returns it.
   *
   * @throws FileLock.LockedException if another process still holds the lock
   */
  public static FileLock lock(Path lock) {
    return FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, PATIENCE);
  }

  /**
   * The last lines of a file.
   *
   * @param lines complete lines, each after a line feed
   * @param torn length of the file without a last line that a crash cut short; {@link #WHOLE} if
   *     the last line is complete
   */
  private record Tail(String lines, long torn) {}

  private static Tail tail(Path file) {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      long size = channel.size();
      for (long length = TAIL; ; length *= 2) {
        long from = Math.max(0, size - length);
        byte[] bytes = new byte[Math.toIntExact(size - from)];
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        channel.position(from);
        while (rest.hasRemaining() && channel.read(rest) >= 0) {
          // Reads until the buffer is full.
        }
        int whole = bytes.length;
        while (whole > 0 && bytes[whole - 1] != '\n') {
          whole--;
        }
        int begin = 0;
        while (from > 0 && begin < whole && bytes[begin] != '\n') {
          begin++;
        }
        // Stops when there is at least one complete line, however long it is.
        if (begin + 1 < whole || from == 0) {
          String lines = new String(bytes, begin, whole - begin, StandardCharsets.UTF_8);
          return new Tail(
              from == 0 ? "\n" + lines : lines, from + whole < size ? from + whole : WHOLE);
        }
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  /** Returns the line with a last member that holds the CRC-32 of the line without it. */
  public static String sealed(JsonObject line) {
    String text = Json.compact(line);
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    String seal = ",\"crc32\":\"%08x\"}".formatted(crc.getValue());
    return text.substring(0, text.length() - 1) + seal;
  }
}
