package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * A request to a job's runner: a file in the job's {@code requests/}, which is removed once the
 * request is done.
 *
 * @param file the file
 * @param kind the requested action
 * @param task the array index; empty for all tasks
 */
record JobRequest(Path file, Kind kind, OptionalInt task) {
  private static final DurableFiles FILES = DurableFiles.onDisk();
  private static final String ALL = "all";

  /** The actions that can be requested. */
  enum Kind {
    CANCEL,
    REQUEUE
  }

  /** Writes a request. Two equal requests are one file. */
  static JobRequest leave(JobDirectory job, Kind kind, OptionalInt task) {
    String which = task.isPresent() ? Integer.toString(task.getAsInt()) : ALL;
    Path file = job.requests().resolve(kind + "." + which);
    FILES.replace(file, new byte[0], "rw-------");
    return new JobRequest(file, kind, task);
  }

  /** Returns the requests that are not done, by name: cancellations first. */
  static List<JobRequest> of(JobDirectory job) {
    return DurableFiles.list(job.requests(), "[A-Z]*").stream().map(JobRequest::read).toList();
  }

  private static JobRequest read(Path file) {
    String[] name = file.getFileName().toString().split("\\.", 2);
    OptionalInt task =
        name[1].equals(ALL) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(name[1]));
    return new JobRequest(file, Kind.valueOf(name[0]), task);
  }

  boolean concerns(Attempt attempt) {
    return task.isEmpty() || task.getAsInt() == attempt.task();
  }

  /** Returns the id of the user who made the request. */
  long uid() {
    return DurableFiles.attempt("read the owner of", file, () -> FileOwner.of(file).uid());
  }

  void done() {
    FILES.unmark(file);
  }

  boolean isDone() {
    return !Files.exists(file);
  }
}
