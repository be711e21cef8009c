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
record LogFiles(Path folder, List<Long> jobs) {

  /** As the journal tells it now. */
  static LogFiles of(RunFolder run) {
    List<Long> jobs = new ArrayList<>();
    for (Submission submission : RunState.of(run.journal().read()).submissions()) {
      submission.jobId().ifPresent(id -> jobs.add(0, id));
    }
    return new LogFiles(run.logs(), jobs);
  }

  /** The task's log; empty where it has printed nothing. */
  Optional<Path> newest(int task) {
    for (long job : jobs) {
      Path log = folder.resolve(job + "_" + task + ".out");
      if (Files.exists(log)) {
        return Optional.of(log);
      }
    }
    return Optional.empty();
  }
}
