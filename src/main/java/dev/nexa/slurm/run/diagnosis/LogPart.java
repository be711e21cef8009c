package dev.nexa.slurm.run.diagnosis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines that an attempt printed to a log. Of a long log only the end is read.
 *
 * @param file the log
 * @param lines the lines, in order
 */
public record LogPart(Path file, List<LogLine> lines) {
  /** A longer file is read from here to its end, and its lines have no numbers. */
  private static final long MOST_BYTES = 8 << 20;

  /** More of a line says nothing new, and a pattern would take long to search it. */
  private static final int LONGEST_LINE = 2000;

  /** The job's line about indices that failed (templates/lib/pack.sh). */
  private static final Pattern FAILED_INDEX =
      Pattern.compile("nexa-slurm: \\d+ of \\d+ indices did not end well: (\\d+) .*");

  /** How the job marks where an attempt begins (templates/lib/attempt.sh and rank.sh). */
  private static final Pattern ATTEMPT = Pattern.compile("nexa-slurm: attempt (\\d+)(,.*)?");

  /**
   * Reads the lines of an attempt.
   *
   * @param restart how often the task had been requeued before the attempt; 0 for the first
   * @throws UncheckedIOException if the file cannot be read
   */
  static LogPart read(Path file, int restart) {
    try (FileChannel channel = FileChannel.open(file)) {
      long size = channel.size();
      long from = Math.max(0, size - MOST_BYTES);
      ByteBuffer bytes = ByteBuffer.allocate((int) (size - from));
      while (bytes.hasRemaining() && channel.read(bytes, from + bytes.position()) >= 0) {
        // Reads on until the end.
      }
      String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
      return new LogPart(file, ofIndex(attempt(lines(text, from == 0), restart)));
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + file, failed);
    }
  }

  /** Returns the lines of the first failed index; all lines of a task that is one index. */
  private static List<LogLine> ofIndex(List<LogLine> lines) {
    for (int i = lines.size() - 1; i >= 0; i--) {
      Matcher failed = FAILED_INDEX.matcher(lines.get(i).text());
      if (failed.matches()) {
        String begin = failed.group(1) + ": ";
        return lines.stream()
            .filter(line -> line.text().startsWith(begin))
            .map(line -> LogLine.of(line.number(), line.text().substring(begin.length())))
            .toList();
      }
    }
    return lines;
  }

  /** Splits a text into lines. A progress bar that returns to the line's start is several lines. */
  static List<LogLine> lines(String text, boolean numbered) {
    List<LogLine> lines = new ArrayList<>();
    int number = 1;
    int start = 0;
    for (int i = 0; i <= text.length(); i++) {
      boolean end = i == text.length();
      if (end || text.charAt(i) == '\n' || text.charAt(i) == '\r') {
        if (i > start) {
          String line = text.substring(start, Math.min(i, start + LONGEST_LINE));
          lines.add(LogLine.of(numbered ? number : 0, line));
        }
        start = i + 1;
        number += !end && text.charAt(i) == '\n' ? 1 : 0;
      }
    }
    return lines;
  }

  /** Returns the lines of one attempt: earlier attempts printed to the same file. */
  private static List<LogLine> attempt(List<LogLine> lines, int restart) {
    int from = 0;
    int to = lines.size();
    for (int i = 0; i < lines.size(); i++) {
      Matcher marker = ATTEMPT.matcher(lines.get(i).text());
      if (marker.matches()) {
        int marked = Integer.parseInt(marker.group(1));
        if (marked == restart + 1) {
          from = i + 1;
        } else if (marked > restart + 1) {
          to = Math.min(to, i);
        }
      }
    }
    return from <= to ? lines.subList(from, to) : lines;
  }
}
