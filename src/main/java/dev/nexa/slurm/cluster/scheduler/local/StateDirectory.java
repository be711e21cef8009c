package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;

/**
 * The folder of the local scheduler's state. It holds {@code jobs/<id>} for each job, a file {@code
 * jobs/<raw id>} for each array task with an id of its own, and {@code open/<id>} for each job that
 * is not over.
 */
final class StateDirectory {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  private final Path jobs;
  private final Path open;

  /** The highest id that was tried; 0 until the folder was listed. */
  private final AtomicLong last = new AtomicLong();

  StateDirectory(Path root) {
    jobs = root.resolve("jobs");
    open = root.resolve("open");
  }

  /** Reserves a new job id by creating its folder. */
  JobDirectory claimJob() {
    FILES.directories(jobs);
    FILES.directories(open);
    return job(claim(id -> FILES.claimDirectory(job(id).path())));
  }

  /**
   * Reserves a new id for an array task. Jobs and tasks share one sequence of numbers, as in Slurm.
   */
  long claimTask(long jobId) {
    return claim(id -> FILES.claim(job(id).path(), Long.toString(jobId)));
  }

  private long claim(LongPredicate claimed) {
    if (last.get() == 0) {
      last.compareAndSet(0, numbers(jobs).max().orElse(0));
    }
    long id;
    do {
      id = last.incrementAndGet();
    } while (!claimed.test(id));
    return id;
  }

  JobDirectory job(long id) {
    return new JobDirectory(id, jobs.resolve(Long.toString(id)));
  }

  /** Returns the histories of jobs by their ids, each read once. */
  LongFunction<JobHistory> histories() {
    Map<Long, JobHistory> read = new HashMap<>();
    return id -> read.computeIfAbsent(id, unread -> job(unread).history());
  }

  /** Returns whether the id belongs to a job of this user, and not to a task. */
  boolean isMine(long id) {
    JobDirectory job = job(id);
    return Files.isDirectory(job.path(), LinkOption.NOFOLLOW_LINKS) && job.exists() && job.isMine();
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

  /** Returns this user's jobs that are not over, by id. */
  List<JobDirectory> openJobs() {
    return mine(open);
  }

  /** Returns all jobs of this user, by id. */
  List<JobDirectory> allJobs() {
    return mine(jobs);
  }

  private List<JobDirectory> mine(Path folder) {
    return numbers(folder).sorted().filter(this::isMine).mapToObj(this::job).toList();
  }

  /** Returns the ids of the jobs and tasks in a folder. */
  private static LongStream numbers(Path folder) {
    return DurableFiles.list(folder, "[0-9]*").stream()
        .mapToLong(path -> Long.parseLong(path.getFileName().toString()));
  }
}
