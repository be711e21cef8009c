package dev.nexa.slurm.journal;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
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

  private final Workspace workspace;

  public Ledger(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * Adds the run's line, once: a pass that died after it finds it there. A run whose tasks ran
   * again gets another line when it ends again, perhaps in another month; the newest tells all of
   * it.
   */
  public void add(RunId id, Instant ended, JsonObject line) {
    Path file = workspace.runs().resolve("ledger-" + MONTH.format(ended) + ".jsonl");
    Path lock = workspace.runs().resolve(".ledger.lock");
    try (FileLock held = FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, PATIENCE)) {
      byte[] bytes =
          held.holds() && Files.exists(file) ? DurableFiles.readBytes(file) : new byte[0];
      // A last line that a crash cut short, perhaps inside a character, goes.
      int whole = bytes.length;
      while (whole > 0 && bytes[whole - 1] != '\n') {
        whole--;
      }
      if (whole < bytes.length) {
        workspace.files().truncate(file, whole);
      }
      String before = new String(bytes, 0, whole, StandardCharsets.UTF_8);
      String sealed = sealed(line) + "\n";
      int last = before.lastIndexOf("{\"run_id\":\"" + id + "\"");
      if (last < 0 || !before.startsWith(sealed, last)) {
        workspace.files().append(file, sealed);
      }
    }
  }

  /** The line with a CRC-32 of what stands before it as its last member. */
  private static String sealed(JsonObject line) {
    String text = Json.compact(line);
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return text.substring(0, text.length() - 1)
        + ",\"crc32\":\""
        + String.format("%08x", crc.getValue())
        + "\"}";
  }
}
