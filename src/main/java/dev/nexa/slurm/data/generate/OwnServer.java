package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.TimeLimit;
import java.time.Duration;

/**
 * A server that the job itself started.
 *
 * @param process its process; when it ends, no request can succeed
 * @param readyWithin how long it may take until it answers
 */
public record OwnServer(ProcessHandle process, Duration readyWithin) {
  private static final Duration LOOK = Duration.ofMillis(500);

  /** Waits until the server answers, or until all is stopped. */
  void await(Teacher teacher, Stop stop) throws InterruptedException {
    long begin = System.nanoTime();
    while (!stop.isStopped() && !teacher.ready()) {
      requireAlive();
      if (System.nanoTime() - begin > readyWithin.toNanos()) {
        throw ErrorCode.API_UNUSABLE.error(
            "the server was not ready " + TimeLimit.words(readyWithin) + " after its start",
            "read its lines in the task's log; ready_within gives it more time");
      }
      stop.sleep(LOOK);
    }
  }

  /**
   * Checks that the server still runs.
   *
   * @throws NexaException if it has ended
   */
  void requireAlive() {
    if (!process.isAlive()) {
      throw ErrorCode.API_UNUSABLE.error(
          "the server ended before all requests had an answer",
          "read its last lines in the task's log",
          "run the task again, for example with rerun --failed: answers are kept");
    }
  }
}
