package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.RepeatedText;
import dev.nexa.slurm.journal.Workspace;
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
 * The newest finished runs of one stage, by the ends of the last ledger files: a submit may read no
 * more than that. Where no run has ended yet it looks for no file.
 */
public final class NewestRuns {
  /** Bytes read in all: some 500 runs of any stage. */
  private static final int MOST_BYTES = 1 << 19;

  /** Files looked for: this month's and those of the eleven before. */
  private static final int MONTHS = 12;

  private final Workspace workspace;

  public NewestRuns(Workspace workspace) {
    this.workspace = workspace;
  }

  /** Newest first; lines that are damaged are left out, {@code costs} tells of them. */
  public List<RunLine> ofStage(String stage, Instant now) {
    List<RunLine> runs = new ArrayList<>();
    if (!Files.isDirectory(workspace.runs())) {
      return runs;
    }
    // Every line begins with its run's id, which begins with its stage.
    byte[] prefix = ("{\"run_id\":\"" + stage + "_").getBytes(StandardCharsets.UTF_8);
    Set<String> seen = new HashSet<>();
    RepeatedText words = new RepeatedText(FinishedRuns.REPEATED);
    int left = MOST_BYTES;
    // Without a zone's calendar: "2025-11".
    String today = now.toString();
    int month = Integer.parseInt(today.substring(0, 4)) * 12;
    month += Integer.parseInt(today.substring(5, 7)) - 1;
    for (int back = 0; back < MONTHS && left > 0; back++) {
      String name = month(month - back);
      Path file = workspace.runs().resolve("ledger-" + name + ".jsonl");
      if (Files.exists(file)) {
        byte[] end = end(file, left);
        left -= end.length;
        List<RunLine> lines = new ArrayList<>();
        new LedgerScan(end, name, name, words, new ArrayList<>()).scan(prefix, lines::add);
        for (RunLine line : lines) {
          if (seen.add(line.runId())) {
            runs.add(line);
          }
        }
      }
    }
    return runs;
  }

  private static String month(int months) {
    int month = months % 12 + 1;
    return months / 12 + (month < 10 ? "-0" : "-") + month;
  }

  /**
   * At most so many bytes from the file's end; a first line that is cut does not begin like one.
   */
  private static byte[] end(Path file, int most) {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      long size = channel.size();
      int length = (int) Math.min(size, most);
      ByteBuffer bytes = ByteBuffer.allocate(length);
      channel.position(size - length);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // Until all of it is there.
      }
      return bytes.array();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }
}
