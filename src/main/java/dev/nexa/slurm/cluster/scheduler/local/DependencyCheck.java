package dev.nexa.slurm.cluster.scheduler.local;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads how the jobs stand that a job waits for. It looks at their folders a few times a second.
 */
final class DependencyCheck {
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final StateDirectory state;
  private final JobDirectory waiting;
  private final Map<Long, Job> jobs = new HashMap<>();
  private final Map<Long, JobHistory> histories = new HashMap<>();
  private Dependency dependency;
  private long read = System.nanoTime();

  /**
   * Makes a check.
   *
   * @param waiting the job that waits
   */
  DependencyCheck(StateDirectory state, JobDirectory waiting) {
    this.state = state;
    this.waiting = waiting;
    this.dependency = waiting.dependency();
  }

  /** Returns whether a pending attempt may start. A task that was requeued waits no more. */
  Dependency.Verdict verdict(Attempt pending) {
    if (dependency.isNone() || pending.restart() > 0) {
      return Dependency.Verdict.MET;
    }
    if (System.nanoTime() - read > PAUSE.toNanos()) {
      histories.clear();
      dependency = waiting.dependency();
      read = System.nanoTime();
    }
    return dependency.verdict(pending.task(), this::history);
  }

  /**
   * Returns why a pending attempt waits, as Slurm's reason code.
   *
   * @param otherwise the reason if it does not wait for a job
   */
  String reason(Attempt pending, String otherwise) {
    return switch (verdict(pending)) {
      case MET -> otherwise;
      case WAITS -> "Dependency";
      case NEVER -> "DependencyNeverSatisfied";
    };
  }

  private JobHistory history(long id) {
    return histories.computeIfAbsent(
        id,
        unread -> {
          JobDirectory directory = state.job(id);
          return directory.history(jobs.computeIfAbsent(id, job -> directory.job()));
        });
  }
}
