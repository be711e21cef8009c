package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The folder of one job: {@code job.json} and {@code slurm_script}, which never change, {@code
 * events.jsonl}, which only the holder of {@code lock} appends to, and {@code requests/}. A folder
 * without {@code job.json} is no job: it is written last.
 */
final class JobDirectory {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  private final long id;
  private final Path path;

  JobDirectory(long id, Path path) {
    this.id = id;
    this.path = path;
  }

  /** The job in a folder named by its id. */
  static JobDirectory at(Path path) {
    return new JobDirectory(Long.parseLong(path.getFileName().toString()), path);
  }

  long id() {
    return id;
  }

  Path path() {
    return path;
  }

  /** The copy that is run: later changes of the submitter's file don't matter. */
  Path script() {
    return path.resolve("slurm_script");
  }

  Path lock() {
    return path.resolve("lock");
  }

  /**
   * Names the process that was last started to run this job; its time is that of a sign of life.
   */
  Path supervisor() {
    return path.resolve("supervisor");
  }

  Path log() {
    return path.resolve("supervisor.log");
  }

  Path requests() {
    return path.resolve("requests");
  }

  private Path events() {
    return path.resolve("events.jsonl");
  }

  private Path description() {
    return path.resolve("job.json");
  }

  /** What marks the processes of an attempt in their environment; plain ASCII. */
  String mark(Attempt attempt) {
    try {
      String folder = path.toRealPath().toString();
      return Sha256.of(folder).substring(0, 16) + "/" + attempt.raw() + "." + attempt.restart();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + path, failed);
    }
  }

  boolean exists() {
    return Files.exists(description());
  }

  /** Writes the parts that are no job yet. */
  void prepare(byte[] script) {
    FILES.create(script(), script, "rwx------");
    FILES.directories(requests());
    FILES.force(path);
  }

  /** Makes it a job, durably and at once. */
  void commit(Submission submission) {
    byte[] json = Json.pretty(submission.toJson()).getBytes(StandardCharsets.UTF_8);
    FILES.replace(description(), json, "rw-------");
  }

  Job job() {
    Submission submission = Submission.of(Json.parseObject(DurableFiles.read(description())));
    return Job.of(id, submission, DurableFiles.read(script()));
  }

  /** What happened so far. A last line without its newline is still being written: not yet. */
  History history(Job job) {
    History history = new History(job);
    if (Files.exists(events())) {
      String text = DurableFiles.read(events());
      text.substring(0, text.lastIndexOf('\n') + 1)
          .lines()
          .forEach(line -> history.apply(Event.parse(line)));
    }
    return history;
  }

  /** Cuts what a dying writer left; only for the holder of the lock. */
  void cutTornTail() {
    if (Files.exists(events())) {
      String text = DurableFiles.read(events());
      String whole = text.substring(0, text.lastIndexOf('\n') + 1);
      if (whole.length() < text.length()) {
        FILES.truncate(events(), whole.getBytes(StandardCharsets.UTF_8).length);
      }
    }
  }

  /** Writes the events in one go, durably; only for the holder of the lock. */
  void append(List<Event> events) {
    StringBuilder lines = new StringBuilder();
    for (Event event : events) {
      lines.append(event.line());
    }
    FILES.append(events(), lines.toString());
  }
}
