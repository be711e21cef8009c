package dev.nexa.slurm.app;

import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
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

  /** The task's log; empty where it has printed nothing. */
  Optional<Path> newest(int task) {
    for (Job job : jobs) {
      Path log = folder.resolve(job.id() + "_" + (task - job.offset()) + ".out");
      if (Files.exists(log)) {
        return Optional.of(log);
      }
    }
    return Optional.empty();
  }
}
