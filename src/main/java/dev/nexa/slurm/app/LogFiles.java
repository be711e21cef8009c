package dev.nexa.slurm.app;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where the tasks of a run print: a file for each job and task, to which a requeued task goes on
 * adding.
 *
 * @param jobs the run's jobs, newest first
 */
record LogFiles(Path folder, List<Job> jobs) {
  /** What a link prints that leaves a task alone (templates/lib/preamble.ftl). */
  private static final String LEFT = "was finished by an earlier link of the chain";

  /**
   * A job of the run.
   *
   * @param offset the task of its array index 0
   */
  record Job(long id, int offset) {}

  /** As the journal tells it now. */
  static LogFiles of(RunFolder run) {
    List<Job> jobs = new ArrayList<>();
    for (Submission submission : RunState.of(run.journal().read()).submissions()) {
      submission.jobId().ifPresent(id -> jobs.add(0, new Job(id, submission.offset())));
    }
    return new LogFiles(run.logs(), jobs);
  }

  /**
   * The task's log; empty where it has printed nothing. Of a chain that of the link that worked.
   */
  Optional<Path> newest(int task) {
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

  private static boolean onlySaysItHadNothingToDo(Path log) {
    try {
      return Files.size(log) < 200 && DurableFiles.read(log).contains(LEFT);
    } catch (IOException | UncheckedIOException unreadable) {
      return false;
    }
  }
}
