package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * What somebody wants of a running job: a file in its {@code requests/}, gone once it is done.
 *
 * @param file where it stands
 * @param kind what is wanted
 * @param task of which task; empty for all
 * @param uid by whom
 */
record Request(Path file, Kind kind, OptionalInt task, long uid) {
  private static final DurableFiles FILES = DurableFiles.onDisk();
  private static final String ALL = "all";

  /** What can be wanted. */
  enum Kind {
    CANCEL,
    REQUEUE
  }

  /** Leaves a request; the same one twice is one. */
  static Request leave(JobDirectory job, Kind kind, OptionalInt task) {
    String which = task.isPresent() ? Integer.toString(task.getAsInt()) : ALL;
    Path file = job.requests().resolve(kind + "." + which);
    FILES.replace(file, new byte[0], "rw-------");
    return new Request(file, kind, task, User.owner(file));
  }

  /** The requests that are not done, cancellations first. */
  static List<Request> of(JobDirectory job) {
    List<Request> requests = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(job.requests(), "[A-Z]*")) {
      for (Path file : files) {
        String[] name = file.getFileName().toString().split("\\.", 2);
        OptionalInt task =
            name[1].equals(ALL) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(name[1]));
        requests.add(new Request(file, Kind.valueOf(name[0]), task, User.owner(file)));
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
