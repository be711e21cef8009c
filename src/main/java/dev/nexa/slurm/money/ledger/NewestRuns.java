package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the newest finished runs of one stage from the ends of the last ledger files. It reads a
 * limited number of bytes, because submit must be fast.
 */
public record NewestRuns(Workspace workspace) {
  /** Limit of bytes in total: some 500 runs of any stage. */
  private static final int MOST_BYTES = 1 << 19;

  /** Limit of files: this month and the eleven months before. */
  private static final int MONTHS = 12;

  /** Returns the runs, newest first. Damaged lines are left out; {@code costs} reports them. */
  public List<LedgerLine> ofStage(String stage, Instant now) {
    List<LedgerLine> runs = new ArrayList<>();
    if (!Files.isDirectory(workspace.runs())) {
      return runs;
    }
    // Each line begins with its run's id, which begins with its stage.
    byte[] prefix = ("{\"run_id\":\"" + stage + "_").getBytes(StandardCharsets.UTF_8);
    Set<String> seen = new HashSet<>();
    Utf8Pool words = new Utf8Pool(FinishedRuns.REPEATED);
    int left = MOST_BYTES;
    // Parsing the text avoids loading time zone classes: "2025-11".
    String today = now.toString();
    int month = Integer.parseInt(today.substring(0, 4)) * 12;
    month += Integer.parseInt(today.substring(5, 7)) - 1;
    List<Path> all = workspace.isShared() ? new Ledger(workspace).files() : List.of();
    for (int back = 0; back < MONTHS && left > 0; back++) {
      String name = month(month - back);
      for (Path file : files(name, all)) {
        byte[] end = end(file, left);
        left -= end.length;
        List<LedgerLine> lines = new ArrayList<>();
        new LedgerScan(end, name, name, words, new ArrayList<>()).scan(prefix, lines::add);
        for (LedgerLine line : lines) {
          if (seen.add(line.runId())) {
            runs.add(line);
          }
        }
      }
    }
    return runs;
  }

  /** Returns the existing files of a month. */
  private List<Path> files(String month, List<Path> all) {
    if (!workspace.isShared()) {
      Path file = workspace.runs().resolve("ledger-" + month + ".jsonl");
      return Files.exists(file) ? List.of(file) : List.of();
    }
    return all.stream().filter(file -> Ledger.month(file).equals(month)).toList();
  }

  private static String month(int months) {
    int month = months % 12 + 1;
    return months / 12 + (month < 10 ? "-0" : "-") + month;
  }

  /**
   * Returns at most this many bytes from the file's end. A first line that is cut has no run id, so
   * it is not read.
   */
  private static byte[] end(Path file, int most) {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      long size = channel.size();
      int length = (int) Math.min(size, most);
      ByteBuffer bytes = ByteBuffer.allocate(length);
      channel.position(size - length);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // Reads until the buffer is full.
      }
      return bytes.array();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }
}
