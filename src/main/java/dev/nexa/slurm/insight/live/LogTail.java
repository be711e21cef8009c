package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.TaskLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The last lines of the log that a run wrote last.
 *
 * @param task the number of the task that wrote it
 * @param lines the lines, with their control characters in visible form, because jobs print any
 *     bytes
 */
public record LogTail(int task, List<String> lines) {
  private static final Pattern NAME = Pattern.compile("(\\d+)_(\\d+)\\.out");

  /** How many logs are compared: tasks start in order, so the newest log has a high number. */
  private static final int COMPARED = 64;

  private static final int MOST_BYTES = 1 << 20;

  private record Log(Path file, long job, int index) {}

  /**
   * Reads the end of the run's newest log.
   *
   * @param lines how many lines to read at most
   * @return empty if no task has printed anything
   */
  public static Optional<LogTail> of(RunFolder run, int lines) throws IOException {
    List<Log> logs = logs(run.logs());
    logs.sort(Comparator.comparingLong(Log::job).thenComparingInt(Log::index).reversed());
    Log newest = null;
    long time = Long.MIN_VALUE;
    for (Log log : logs.subList(0, Math.min(COMPARED, logs.size()))) {
      long written = Files.getLastModifiedTime(log.file()).toMillis();
      if (written > time && Files.size(log.file()) > 0) {
        newest = log;
        time = written;
      }
    }
    if (newest == null) {
      return Optional.empty();
    }
    int offset = 0;
    for (LogFiles.Job job : LogFiles.of(run).jobs()) {
      offset = job.id() == newest.job() ? job.offset() : offset;
    }
    return Optional.of(new LogTail(newest.index() + offset, read(newest.file(), lines)));
  }

  private static List<Log> logs(Path folder) throws IOException {
    List<Log> logs = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches() && name.group(1).length() < 18 && name.group(2).length() < 10) {
          logs.add(new Log(file, Long.parseLong(name.group(1)), Integer.parseInt(name.group(2))));
        }
      }
    } catch (NoSuchFileException none) {
      // No task has printed anything.
    }
    return logs;
  }

  private static List<String> read(Path file, int lines) throws IOException {
    long start = TaskLog.startOfLast(file, lines);
    try (FileChannel channel = FileChannel.open(file)) {
      long from = Math.max(start, channel.size() - MOST_BYTES);
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(channel.size() - from, MOST_BYTES));
      int read = 0;
      while (read >= 0 && bytes.hasRemaining()) {
        read = channel.read(bytes, from + bytes.position());
      }
      String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
      List<String> shown = text.lines().map(line -> VisibleText.line(afterReturn(line))).toList();
      return shown.subList(Math.max(0, shown.size() - lines), shown.size());
    }
  }

  /** Returns what a terminal shows of a line that a progress bar has written again and again. */
  private static String afterReturn(String line) {
    String whole = line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
    return whole.substring(whole.lastIndexOf('\r') + 1);
  }
}
