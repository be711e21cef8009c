package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The log files of a run's tasks: one file for each job and task. A requeued task appends to its
 * file.
 *
 * @param jobs the run's jobs, newest first
 */
public record LogFiles(Path folder, List<Job> jobs) {
  /** The message of a link that finds its task finished (templates/lib/preamble.ftl). */
  private static final String LEFT = "was finished by an earlier link of the chain";

  /**
   * A job of the run.
   *
   * @param offset the task number at array index 0
   */
  public record Job(long id, int offset) {}

  /** Returns the log files of the jobs that the journal names now. */
  public static LogFiles of(RunFolder run) {
    List<Job> jobs = new ArrayList<>();
    for (Submission submission : RunState.of(run.journal().read()).submissions()) {
      submission.jobId().ifPresent(id -> jobs.add(0, new Job(id, submission.offset())));
    }
    return new LogFiles(run.logs(), jobs);
  }

  /**
   * Returns the task's newest log; empty if there is none. In a chain, it skips the logs of links
   * that had nothing to do, unless there are no others.
   */
  public Optional<Path> newest(int task) {
    Optional<Path> newest = Optional.empty();
    for (Job job : jobs) {
      Path log = folder.resolve(job.id() + "_" + (task - job.offset()) + ".out");
      if (Files.exists(log)) {
        newest = newest.isEmpty() ? Optional.of(log) : newest;
        if (!onlySaysItHadNothingToDo(log)) {
          return Optional.of(log);
        }
      }
    }
    return newest;
  }

  /** Returns the log of one rank of the task; empty if no launcher started ranks. */
  public Optional<Path> ofRank(int task, int rank) {
    return beside(task, "rank_" + rank + ".log");
  }

  /**
   * Returns the file that the task's script wrote by its own {@code --error}; empty if there is
   * none. The job's link leads there, so it must be a regular file of the run's owner.
   */
  public Optional<Path> ofStderr(int task) {
    Optional<Path> file = beside(task, "stderr.log");
    try {
      if (file.isPresent()) {
        Path real = file.get().toRealPath();
        return Files.isRegularFile(real) && Files.getOwner(real).equals(Files.getOwner(folder))
            ? Optional.of(real)
            : Optional.empty();
      }
      return file;
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  private Optional<Path> beside(int task, String name) {
    return newest(task)
        .map(log -> log.getFileName().toString().replaceFirst("[.]out$", ".ranks"))
        .map(ranks -> folder.resolve(ranks).resolve(name))
        .filter(Files::exists);
  }

  private static boolean onlySaysItHadNothingToDo(Path log) {
    try {
      return Files.size(log) < 200 && DurableFiles.read(log).contains(LEFT);
    } catch (IOException | UncheckedIOException unreadable) {
      return false;
    }
  }
}
