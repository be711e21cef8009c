package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.lookup.LogFiles;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The logs of one attempt of a task: the log of the rank that failed first, or the file of the
 * script's own {@code --error}, and the task's log.
 */
final class AttemptLogs {
  /** For a task with more ranks, only the logs of the first ranks are read. */
  private static final int MOST_RANKS = 64;

  private final LogFiles files;
  private final EndedAttempt attempt;
  private final Optional<Integer> rank;
  private final List<String> problems;
  private final List<LogPart> parts = new ArrayList<>();

  /**
   * Reads the logs.
   *
   * @param problems receives a line for each log that cannot be read
   */
  AttemptLogs(RunFolder run, EndedAttempt attempt, Optional<OwnRecord> own, List<String> problems) {
    this.files = LogFiles.of(run);
    this.attempt = attempt;
    this.rank = own.flatMap(OwnRecord::rank);
    this.problems = problems;
    rank.flatMap(first -> files.ofRank(attempt.task(), first)).ifPresent(log -> add(parts, log));
    // A new attempt begins this file anew, and no mark in it says which attempt it is.
    files.ofStderr(attempt.task()).ifPresent(log -> add(parts, log, 0));
    files.newest(attempt.task()).ifPresent(log -> add(parts, log));
  }

  private void add(List<LogPart> to, Path log) {
    add(to, log, attempt.restart());
  }

  private void add(List<LogPart> to, Path log, int restart) {
    try {
      to.add(LogPart.read(log, restart));
    } catch (UncheckedIOException unreadable) {
      problems.add(String.valueOf(unreadable.getMessage()));
    }
  }

  /**
   * Returns what the logs say. If the first rank to end had only lost contact with another rank,
   * the logs of the other ranks are read too.
   */
  LogReading read(FailurePatterns signatures) {
    LogReading reading = LogReading.of(parts, signatures);
    if (reading.root().isPresent() || rank.isEmpty()) {
      return reading;
    }
    List<LogPart> all = new ArrayList<>(parts);
    IntStream.range(0, MOST_RANKS)
        .mapToObj(other -> files.ofRank(attempt.task(), other))
        .takeWhile(Optional::isPresent)
        .forEach(log -> add(all, log.get()));
    return LogReading.of(all, signatures);
  }

  /** Returns the log that counts most; empty if there is none. */
  Optional<Path> newest() {
    return parts.isEmpty() ? Optional.empty() : Optional.of(parts.get(0).file());
  }

  /** Returns the last lines that are not blank and that the program itself printed. */
  List<LogLine> last(int lines) {
    List<LogLine> said =
        parts.stream()
            .limit(1)
            .flatMap(part -> part.lines().stream())
            .filter(line -> !line.text().isBlank() && !line.isOurs())
            .toList();
    return said.subList(Math.max(0, said.size() - lines), said.size());
  }
}
