package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The folder of the local scheduler's state. It holds {@code jobs/<id>} for each job, a link {@code
 * jobs/<raw id>} for each array task with an id of its own, and {@code open/<id>} for each job that
 * is not over.
 */
final class StateDirectory {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  private final Path jobs;
  private final Path open;
  private final Path hint;

  StateDirectory(Path root) {
    jobs = root.resolve("jobs");
    open = root.resolve("open");
    hint = root.resolve("last_id");
  }

  /** Returns the state that a job's folder belongs to. */
  static StateDirectory of(JobDirectory job) {
    return new StateDirectory(job.path().resolve("../..").normalize());
  }

  /** Reserves a new job id by creating its folder. */
  JobDirectory claimJob() {
    FILES.directories(jobs);
    FILES.directories(open);
    long id = lastId() + 1;
    while (!FILES.claimDirectory(job(id).path())) {
      id++;
    }
    remember(id);
    return job(id);
  }

  /**
   * Reserves a new id for an array task. Jobs and tasks share one sequence of numbers, as in Slurm.
   */
  long claimTask(long jobId) {
    long id = lastId() + 1;
    while (!claimLink(jobs.resolve(Long.toString(id)), jobId)) {
      id++;
    }
    remember(id);
    return id;
  }

  private static boolean claimLink(Path link, long jobId) {
    try {
      Files.createSymbolicLink(link, Path.of(Long.toString(jobId)));
      return true;
    } catch (FileAlreadyExistsException taken) {
      return false;
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot create " + link, failed);
    }
  }

  /** Returns a hint where free ids begin. The folders decide which ids are free. */
  private long lastId() {
    try {
      String text = Files.readString(hint).strip();
      return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
    } catch (IOException noneYet) {
      return 0;
    }
  }

  private void remember(long id) {
    long thread = Thread.currentThread().getId();
    Path temp = hint.resolveSibling(".last_id." + ProcessHandle.current().pid() + "." + thread);
    try {
      FileModes.write(temp, (id + "\n").getBytes(StandardCharsets.UTF_8), FileModes.USUAL);
      try {
        Files.move(temp, hint, StandardCopyOption.ATOMIC_MOVE);
      } catch (FileSystemException ofAnotherUser) {
        // In a sticky folder only its maker can replace the hint. Without it, a search is longer.
        Files.deleteIfExists(temp);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot write " + hint, failed);
    }
  }

  JobDirectory job(long id) {
    return new JobDirectory(id, jobs.resolve(Long.toString(id)));
  }

  /** Returns whether the id is a job's, and not a task's. */
  boolean has(long id) {
    JobDirectory job = job(id);
    return Files.isDirectory(job.path(), LinkOption.NOFOLLOW_LINKS) && job.exists();
  }

  /** Marks a job as open. Call it before the job exists, so that no job lacks its mark. */
  void markOpen(JobDirectory job) {
    FILES.mark(open.resolve(Long.toString(job.id())));
  }

  void markOver(JobDirectory job) {
    FILES.unmark(open.resolve(Long.toString(job.id())));
  }

  boolean isOpen(JobDirectory job) {
    return Files.exists(open.resolve(Long.toString(job.id())));
  }

  /** Returns the jobs that are not over, by id. */
  List<JobDirectory> openJobs() {
    return existing(open);
  }

  /** Returns all jobs, by id. */
  List<JobDirectory> allJobs() {
    return existing(jobs);
  }

  private List<JobDirectory> existing(Path folder) {
    List<Long> ids = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> names = Files.newDirectoryStream(folder, "[0-9]*")) {
        for (Path name : names) {
          ids.add(Long.parseLong(name.getFileName().toString()));
        }
      } catch (IOException failed) {
        throw new UncheckedIOException("Cannot list " + folder, failed);
      }
    }
    Collections.sort(ids);
    List<JobDirectory> found = new ArrayList<>();
    for (long id : ids) {
      if (has(id)) {
        found.add(job(id));
      }
    }
    return found;
  }
}
