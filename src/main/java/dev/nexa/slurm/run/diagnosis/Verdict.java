package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.cluster.scheduler.JobState;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The cause of a failed attempt. Pure.
 *
 * @param root the cause; empty if nothing shows it
 * @param certain whether a line or a record proves the cause; otherwise it is only likely
 * @param also another cause that the logs or Slurm name; empty if there is none
 */
public record Verdict(Optional<Finding> root, boolean certain, Optional<Finding> also) {
  /** States that Slurm sets itself: what the job prints while it is ended is no cause. */
  private static final Set<JobState> DECISIVE =
      EnumSet.of(
          JobState.OUT_OF_MEMORY,
          JobState.NODE_FAIL,
          JobState.BOOT_FAIL,
          JobState.PREEMPTED,
          JobState.CANCELLED,
          JobState.DEADLINE,
          JobState.VANISHED);

  /** No signal, or one that a rank gets that waited in vain: ABRT of itself, TERM of a launcher. */
  private static final Set<Integer> ENDED_ITSELF = Set.of(0, 6, 15);

  /**
   * Decides.
   *
   * @param stated the cause that Slurm's state names; empty if it names none
   * @param own the job's own record; empty if it left none
   */
  static Verdict of(
      JobState state, Optional<Finding> stated, Optional<OwnRecord> own, LogReading logs) {
    Optional<Finding> recorded = own.isPresent() ? Stated.by(own.get()) : Optional.empty();
    Optional<Finding> logged = logs.root();
    Optional<Finding> known =
        (DECISIVE.contains(state) ? stated : Optional.<Finding>empty())
            .or(() -> recorded)
            .or(() -> stated.filter(one -> logged.isEmpty() || sameKind(one, logged.get())));
    if (known.isPresent()) {
      return new Verdict(known, true, Optional.empty()).beside(logged);
    }
    if (logged.isPresent()) {
      return new Verdict(logged, true, stated);
    }
    Optional<Finding> signal = own.isPresent() ? Stated.signal(own.get()) : Optional.empty();
    boolean crashed = own.isPresent() && !ENDED_ITSELF.contains(own.get().signal());
    Optional<Finding> likely =
        logs.confirmations().stream()
            .findFirst()
            .or(() -> crashed ? Optional.empty() : logs.lastResort());
    return likely.isPresent()
        ? new Verdict(likely, false, Optional.empty())
        : new Verdict(signal, signal.isPresent(), Optional.empty());
  }

  /** Adds what the logs show: the line of the same cause, or another cause. */
  private Verdict beside(Optional<Finding> logged) {
    if (root.isEmpty() || logged.isEmpty()) {
      return this;
    }
    return sameKind(root.get(), logged.get())
        ? new Verdict(root.map(one -> one.shownBy(logged.get())), certain, also)
        : new Verdict(root, certain, logged);
  }

  /**
   * Returns the verdict with what accounting measured. If a signal ended a task that had used all
   * of its memory, the task was most likely killed for that.
   */
  Verdict measured(Optional<Long> peak, Optional<Long> memory) {
    boolean killed = root.isPresent() && root.get().id().equals(Stated.SIGNAL);
    boolean full = peak.isPresent() && memory.isPresent() && peak.get() >= memory.get() / 20 * 19;
    return killed && full ? new Verdict(Optional.of(Stated.memoryUsedUp()), false, root) : this;
  }

  /** Returns whether the log needs no further search: Slurm or a line shows the cause. */
  boolean isShown() {
    return root.isPresent() && !root.get().id().equals(Stated.SIGNAL);
  }

  /** Returns a copy whose cause has other words. */
  Verdict meaning(String words) {
    return new Verdict(root.map(one -> one.meaning(words)), certain, also);
  }

  /** Returns a copy with another finding of the same cause. */
  Verdict withRoot(Finding finding) {
    return new Verdict(Optional.of(finding), certain, also);
  }

  private static boolean sameKind(Finding one, Finding other) {
    return one.failure().equals(other.failure());
  }
}
