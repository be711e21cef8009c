package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The causes that Slurm's accounting or the job's own record states, without a line of a log. */
final class Stated {
  private static final Map<Integer, String> SIGNALS =
      Map.of(
          4, "ILL", 6, "ABRT", 7, "BUS", 8, "FPE", 9, "KILL", 11, "SEGV", 15, "TERM", 24, "XCPU");

  /** The id of the finding that a signal ended a task. */
  static final String SIGNAL = "signal";

  /** Seen with Slurm 22.05 where slurmd could not open the file of --output. */
  private static final String UNOPENED = "0:53";

  private static final String NOT_OPENED =
      "Look whether the run's folder is on that node and whether you may write there. Slurm keeps"
          + " the members of a group for ten minutes (GroupUpdateTime): who has just joined waits.";

  private Stated() {}

  /** Returns the finding that a task had used all the memory that it was given. */
  static Finding memoryUsedUp() {
    return Finding.stated(
        "memory-used-up",
        "host-memory",
        "It was killed after it had used all the memory that the job was given.",
        "Give it more memory, or use fewer data loader workers.",
        "resources.memory");
  }

  /**
   * Returns the cause that a state of Slurm's names; empty for FAILED, which names none unless the
   * job could not begin.
   */
  static Optional<Finding> by(EndedAttempt attempt, Duration timeLimit) {
    JobState state = attempt.state();
    String printed = attempt.printed();
    String nodes = attempt.nodes();
    return switch (state) {
      case FAILED ->
          attempt.exitCode().equals(UNOPENED)
              ? of(
                  state,
                  "file-system",
                  "Slurm could not open the job's log on " + nodes + ", so nothing was started.",
                  NOT_OPENED,
                  "")
              : Optional.empty();
      case TIMEOUT ->
          of(
              state,
              "time-limit",
              "The task reached its time limit of " + TimeLimit.words(timeLimit) + ".",
              "Give it more time, or let it save and continue (`nexa-slurm explain docs/backends.md`).",
              "resources.time");
      case OUT_OF_MEMORY ->
          of(
              state,
              "host-memory",
              "The job used more memory than it was given.",
              "Give it more memory, or use fewer data loader workers.",
              "resources.memory");
      case NODE_FAIL, BOOT_FAIL ->
          of(
              state,
              "node-failure",
              (nodes.isEmpty() ? "A node" : "A node of " + nodes) + " failed.",
              "Run it again; requeues: 1 lets Slurm do that.",
              "requeues");
      case PREEMPTED ->
          of(
              state,
              "preempted",
              "Slurm took the nodes for another job.",
              "Run it again; requeues: 1 lets Slurm do that.",
              "requeues");
      case CANCELLED ->
          of(
              state,
              "cancelled",
              printed.equals("CANCELLED by 0")
                  ? "Root (uid 0) cancelled it, or Slurm itself did after a crash."
                  : printed.startsWith("CANCELLED by ")
                      ? "The user with the uid "
                          + printed.substring("CANCELLED by ".length())
                          + " cancelled it."
                      : "It was cancelled.",
              "",
              "");
      case DEADLINE ->
          of(state, "time-limit", "The job could not end before its deadline.", "", "");
      case VANISHED ->
          of(state, "slurm-refused", "Slurm accepted the job and lost it.", "Run it again.", "");
      default -> Optional.empty();
    };
  }

  /** Returns the cause that the job's own record names; empty if it only knows an exit status. */
  static Optional<Finding> by(OwnRecord own) {
    if (own.killedForMemory()) {
      return Optional.of(
          Finding.stated(
              "oom-kill",
              "host-memory",
              "The kernel killed %s because the job used more memory than it was given."
                  .formatted(own.who()),
              "Give it more memory, or use fewer data loader workers.",
              "resources.memory"));
    }
    if (own.kind().equals("stall")) {
      return Optional.of(
          Finding.stated(
              "stall",
              "hang",
              "The task printed and wrote nothing for so long that the watchdog ended it.",
              "The log shows where each Python thread was; a longer watchdog helps if it was only"
                  + " slow.",
              "watchdog"));
    }
    return Optional.empty();
  }

  /**
   * Returns the finding that a signal ended a rank, and nothing says why; empty without a signal.
   */
  static Optional<Finding> signal(OwnRecord own) {
    if (own.signal() == 0) {
      return Optional.empty();
    }
    String name = SIGNALS.get(own.signal());
    String words = "Signal " + own.signal() + (name == null ? "" : " (" + name + ")");
    return Optional.of(
        Finding.stated(
            SIGNAL,
            "crash",
            words + " ended " + own.who() + ", and no log says why.",
            own.signal() == 9
                ? "Often the node had no memory left: compare the memory used, and ask the admin"
                    + " for the kernel's log."
                : "Set debug: true and submit it again.",
            own.signal() == 9 ? "" : "debug"));
  }

  private static Optional<Finding> of(
      JobState state, String failure, String means, String advice, String key) {
    String id = state.name().toLowerCase(Locale.ROOT);
    return Optional.of(Finding.stated(id, failure, means, advice, key));
  }
}
