package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of samples, {@code submissions/<key>/results/<task>.<restart>.telemetry.<node>.csv}. No
 * other class knows its format, which docs/monitor.md describes: {@code templates/lib/sampler.sh}
 * writes it.
 *
 * @param submission the key of the submission
 * @param task the task's number in the run
 * @param restart the number of the attempt, from 0
 * @param node the node's name
 */
public record TelemetryFile(Path path, String submission, int task, int restart, String node) {
  private static final Pattern NAME =
      Pattern.compile("(\\d{1,9})\\.(\\d{1,9})\\.telemetry\\.([A-Za-z0-9._-]{1,255})\\.csv");

  /** The end of a file that holds the newest sample. */
  private static final int TAIL = 1 << 14;

  private static final int HEAD = 1 << 11;

  /** No line of the sampler is longer. */
  private static final int LONGEST_LINE = 1 << 9;

  /** Returns the files of all tasks: by submission, then by task, attempt and node. */
  public static List<TelemetryFile> of(RunFolder run, RunState journal) {
    return journal.submissions().stream()
        .flatMap(submission -> in(run, submission.key(), "*").stream())
        .toList();
  }

  /** Returns the files of one task, the oldest attempt first. */
  public static List<TelemetryFile> of(RunFolder run, RunState journal, int task) {
    return journal.submissions().stream()
        .filter(submission -> submission.tasks().indices().contains(task))
        .flatMap(submission -> in(run, submission.key(), task + ".*").stream())
        .toList();
  }

  private static List<TelemetryFile> in(RunFolder run, String key, String begin) {
    List<TelemetryFile> files = new ArrayList<>();
    Path results = run.submission(key).resolve("results");
    for (Path file : DurableFiles.list(results, begin + ".telemetry.*.csv")) {
      Matcher name = NAME.matcher(file.getFileName().toString());
      if (name.matches()) {
        files.add(
            new TelemetryFile(
                file,
                key,
                Integer.parseInt(name.group(1)),
                Integer.parseInt(name.group(2)),
                name.group(3)));
      }
    }
    files.sort(
        Comparator.comparingInt(TelemetryFile::task)
            .thenComparingInt(TelemetryFile::restart)
            .thenComparing(TelemetryFile::node));
    return files;
  }

  /**
   * Reads the whole file.
   *
   * @return its content; empty if it cannot be opened
   */
  public Optional<NodeTelemetry> read() {
    SampleReader reader = new SampleReader();
    try (FileChannel file = FileChannel.open(path)) {
      lines(file, 0, Long.MAX_VALUE, reader);
    } catch (IOException unreadable) {
      return Optional.empty();
    }
    return Optional.of(reader.result(this));
  }

  /**
   * Reads the newest sample from the end of the file; cheap for a file of any size. The file of a
   * running task is at most half a minute behind.
   *
   * @return empty if the file has no sample, or cannot be opened
   */
  public Optional<NodeTelemetry.Sample> newest() {
    SampleReader reader = new SampleReader();
    try (FileChannel file = FileChannel.open(path)) {
      long size = file.size();
      if (size <= TAIL + HEAD) {
        lines(file, 0, size, reader);
      } else {
        lines(file, 0, HEAD, reader);
        reader.leap();
        lines(file, size - TAIL, TAIL, reader);
      }
    } catch (IOException unreadable) {
      return Optional.empty();
    }
    return reader.result(this).after();
  }

  /** Passes on whole lines; a line without an end, or of absurd length, counts as broken. */
  private static void lines(FileChannel file, long from, long most, SampleReader reader)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(TAIL);
    byte[] line = new byte[LONGEST_LINE];
    int length = 0;
    long at = from;
    long end = from + most;
    while (at < end) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), end - at));
      int read = file.read(buffer, at);
      if (read <= 0) {
        break;
      }
      at += read;
      for (int i = 0; i < read; i++) {
        byte one = buffer.get(i);
        if (one == '\n') {
          if (length > LONGEST_LINE) {
            reader.broken();
          } else {
            reader.line(new String(line, 0, length, StandardCharsets.ISO_8859_1));
          }
          length = 0;
        } else {
          if (length < LONGEST_LINE) {
            line[length] = one;
          }
          length = Math.min(length + 1, LONGEST_LINE + 1);
        }
      }
    }
    if (length > 0) {
      reader.broken();
    }
  }
}
