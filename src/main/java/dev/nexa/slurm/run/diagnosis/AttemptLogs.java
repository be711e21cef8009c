package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.job.config.site.Signatures;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.lookup.LogFiles;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The logs of one attempt of a task: the log of the rank that failed first, and the task's log. */
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
    if (rank.isPresent()) {
      files.ofRank(attempt.task(), rank.get()).ifPresent(log -> add(parts, log));
    }
    files.newest(attempt.task()).ifPresent(log -> add(parts, log));
  }

  private void add(List<LogPart> to, Path log) {
    try {
      to.add(LogPart.read(log, attempt.restart()));
    } catch (UncheckedIOException unreadable) {
      problems.add(String.valueOf(unreadable.getMessage()));
    }
  }

  /**
   * Returns what the logs say. If the first rank to end had only lost contact with another rank,
   * the logs of the other ranks are read too.
   */
  LogReading read(Signatures signatures) {
    LogReading reading = LogReading.of(parts, signatures);
    if (reading.root().isPresent() || rank.isEmpty()) {
      return reading;
    }
    List<LogPart> all = new ArrayList<>(parts);
    for (int other = 0; other < MOST_RANKS; other++) {
      Optional<Path> log = files.ofRank(attempt.task(), other);
      if (log.isEmpty()) {
        break;
      }
      add(all, log.get());
    }
    return LogReading.of(all, signatures);
  }

  /** Returns the log that counts most; empty if there is none. */
  Optional<Path> newest() {
    return parts.isEmpty() ? Optional.empty() : Optional.of(parts.get(0).file());
  }

  /** Returns the last lines that are not blank and that the program itself printed. */
  List<LogLine> last(int lines) {
    List<LogLine> said = new ArrayList<>();
    for (LogLine line : parts.isEmpty() ? List.<LogLine>of() : parts.get(0).lines()) {
      if (!line.text().isBlank() && !line.isOurs()) {
        said.add(line);
      }
    }
    return List.copyOf(said.subList(Math.max(0, said.size() - lines), said.size()));
  }
}
