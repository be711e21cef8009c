package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * A request to a job's runner: a file in the job's {@code requests/}, which is removed once the
 * request is done. Its name has the requested action and the array index, or {@code all}.
 */
record JobRequest(Path file) {
  static final String CANCEL = "CANCEL.";
  static final String REQUEUE = "REQUEUE.";

  private static final DurableFiles FILES = DurableFiles.onDisk();
  private static final String ALL = "all";

  /**
   * Writes a request. Two equal requests are one file.
   *
   * @param action {@link #CANCEL} or {@link #REQUEUE}
   * @param task the array index; empty for all tasks
   */
  static JobRequest leave(JobDirectory job, String action, OptionalInt task) {
    String which = task.isPresent() ? Integer.toString(task.getAsInt()) : ALL;
    JobRequest request = new JobRequest(job.requests().resolve(action + which));
    FILES.replace(request.file, new byte[0], "rw-------");
    return request;
  }

  /** Returns the requests that are not done, by name: cancellations first. */
  static List<JobRequest> of(JobDirectory job) {
    return DurableFiles.list(job.requests(), "[A-Z]*").stream().map(JobRequest::new).toList();
  }

  /** Returns whether it requests another attempt, and no cancellation. */
  boolean isRequeue() {
    return name().startsWith(REQUEUE);
  }

  boolean concerns(Attempt attempt) {
    return name().endsWith("." + ALL) || name().endsWith("." + attempt.task());
  }

  private String name() {
    return file.getFileName().toString();
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
