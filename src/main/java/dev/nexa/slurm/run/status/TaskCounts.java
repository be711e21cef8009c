package dev.nexa.slurm.run.status;

import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import java.util.List;

/**
 * The number of a run's tasks in each state.
 *
 * @param all how many tasks the run has
 * @param done how many have completed
 * @param failed how many have ended in any other way, but were not cancelled
 */
public record TaskCounts(int all, int done, int failed, int cancelled, int running) {
  /** Counts the tasks of a run. */
  static TaskCounts of(List<TaskOutcome> tasks) {
    int done = 0;
    int failed = 0;
    int cancelled = 0;
    int running = 0;
    for (TaskOutcome task : tasks) {
      boolean good = task.state() == JobState.COMPLETED;
      boolean stopped = task.state() == JobState.CANCELLED;
      done += task.ended() && good ? 1 : 0;
      cancelled += task.ended() && stopped ? 1 : 0;
      failed += task.ended() && !good && !stopped ? 1 : 0;
      running += !task.ended() && task.state() != JobState.PENDING ? 1 : 0;
    }
    return new TaskCounts(tasks.size(), done, failed, cancelled, running);
  }

  /** Reads the counts of a manifest. */
  static TaskCounts of(ManifestFile manifest) {
    int tasks = (int) manifest.tasks();
    int done = count(manifest, "completed");
    int cancelled = count(manifest, "cancelled");
    int running = count(manifest, "running");
    int others = tasks - done - cancelled - running - count(manifest, "pending");
    return new TaskCounts(tasks, done, Math.max(0, others), cancelled, running);
  }

  private static int count(ManifestFile manifest, String state) {
    return manifest.states().optionalNumber(state).orElse(0L).intValue();
  }

  /** Returns how many tasks have neither begun nor ended. */
  public int pending() {
    return Math.max(0, all - done - failed - cancelled - running);
  }

  /** Returns {@code 10/64, 1 failed}. */
  public String progress() {
    return done + "/" + all + (failed > 0 ? ", " + failed + " failed" : "");
  }
}
