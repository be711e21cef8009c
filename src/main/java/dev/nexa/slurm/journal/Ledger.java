package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32;

/**
 * {@code runs/ledger-YYYY-MM.jsonl}: a line for each time a run ended, in that month, so that sums
 * over many runs read one file. The manifests are the truth; the ledger can be made again from
 * them.
 */
public final class Ledger {
  private static final DateTimeFormatter MONTH =
      DateTimeFormatter.ofPattern("yyyy-MM").withZone(ZoneOffset.UTC);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Bytes looked through for a repeat: some hundred lines. */
  private static final int TAIL = 1 << 18;

  private static final long WHOLE = -1;

  private final Workspace workspace;

  public Ledger(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * Adds the run's line, once: a pass that died after it finds it near the end. (One that is found
   * no more, because so many others came after it, is written twice; readers take the newest.) A
   * run whose tasks ran again gets another line when it ends again, perhaps in another month; the
   * newest tells all of it.
   */
  public void add(RunId id, Instant ended, JsonObject line) {
    Path file = workspace.runs().resolve("ledger-" + MONTH.format(ended) + ".jsonl");
    try (FileLock held = lock(workspace.runs().resolve(".ledger.lock"))) {
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

  /** The files, oldest month first; none where no run has ended yet. */
  public List<Path> files() {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(workspace.runs(), "ledger-????-??.jsonl")) {
      for (Path file : found) {
        files.add(file);
      }
    } catch (NoSuchFileException none) {
      return files;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", workspace.runs(), failed);
    }
    Collections.sort(files);
    return files;
  }

  /** The month of a file: {@code 2025-11}. */
  public static String month(Path file) {
    String name = file.getFileName().toString();
    return name.substring("ledger-".length(), name.length() - ".jsonl".length());
  }

  /** Waits for a lock of the workspace, which only this process then holds. */
  public static FileLock lock(Path lock) {
    return FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, PATIENCE);
  }

  /**
   * A file's last lines.
   *
   * @param lines whole ones, each behind a line feed
   * @param torn how long the file is without a last line that a crash cut short; {@link #WHOLE} if
   *     none was
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
          // Until all of it is there.
        }
        int whole = bytes.length;
        while (whole > 0 && bytes[whole - 1] != '\n') {
          whole--;
        }
        int begin = 0;
        while (from > 0 && begin < whole && bytes[begin] != '\n') {
          begin++;
        }
        // At least one whole line, however long it is.
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

  /** The line with a CRC-32 of what stands before it as its last member. */
  public static String sealed(JsonObject line) {
    String text = Json.compact(line);
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return text.substring(0, text.length() - 1)
        + ",\"crc32\":\""
        + String.format("%08x", crc.getValue())
        + "\"}";
  }
}
