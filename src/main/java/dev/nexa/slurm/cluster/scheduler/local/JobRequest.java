package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * A request to a job's runner: a file in the job's {@code requests/}, which is removed once the
 * request is done.
 *
 * @param file the file
 * @param kind the requested action
 * @param task the array index; empty for all tasks
 * @param uid the user who made the request
 */
record JobRequest(Path file, Kind kind, OptionalInt task, long uid) {
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
    // The owner is not read: the runner may have handled the request and removed the file.
    return new JobRequest(file, kind, task, JobUser.current().uid());
  }

  /** Returns the requests that are not done, cancellations first. */
  static List<JobRequest> of(JobDirectory job) {
    List<JobRequest> requests = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(job.requests(), "[A-Z]*")) {
      for (Path file : files) {
        String[] name = file.getFileName().toString().split("\\.", 2);
        OptionalInt task =
            name[1].equals(ALL) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(name[1]));
        requests.add(new JobRequest(file, Kind.valueOf(name[0]), task, JobUser.owner(file)));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot list " + job.requests(), failed);
    }
    requests.sort((a, b) -> a.kind().compareTo(b.kind()));
    return requests;
  }

  boolean concerns(Attempt attempt) {
    return task.isEmpty() || task.getAsInt() == attempt.task();
  }

  void done() {
    FILES.unmark(file);
  }

  boolean isDone() {
    return !Files.exists(file);
  }
}
