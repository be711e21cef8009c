package dev.nexa.slurm.run.diagnosis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * Why one task of a run failed.
 *
 * @param slurm accounting's facts about the attempt; empty if it has no row
 * @param verdict the cause
 * @param confirmations findings that support the cause
 * @param followed findings that only followed from it
 * @param remedy the value to change; empty if none is obvious
 * @param log the log that was read first; empty if there is none
 * @param status the exit status of the rank or command that failed first; empty if it is not known
 * @param clues facts about the run that help with such a failure
 * @param lastLines the last lines that the program printed, if no line shows the cause; else empty
 */
public record Failure(
    Place place,
    Optional<Accounted> slurm,
    Verdict verdict,
    List<Finding> confirmations,
    List<Finding> followed,
    Optional<Remedy> remedy,
    Optional<Path> log,
    OptionalInt status,
    List<Clue> clues,
    List<LogLine> lastLines) {

  /**
   * The place of the first failure.
   *
   * @param task the task's number in the run
   * @param failedTasks how many tasks of the run failed
   * @param attempt the attempt, from 1
   * @param rank the rank that failed first; empty if the task has no ranks, or if it is not known
   * @param node the node of the rank; empty if it is not known
   * @param group the group of a heterogeneous job that the task is; empty for any other
   */
  public record Place(
      int task,
      int failedTasks,
      int attempt,
      Optional<Integer> rank,
      Optional<String> node,
      Optional<String> group) {}

  /**
   * Accounting's facts about an attempt.
   *
   * @param jobId the job id of the task itself
   * @param state as printed, such as {@code CANCELLED by 1000}
   * @param exitCode {@code exit:signal}, as printed
   * @param nodes the node list, as printed; may be empty
   * @param peakBytes memory of the largest task of any step; empty if it was not measured
   * @param memoryBytes allocated memory; empty if it is not known
   */
  public record Accounted(
      long jobId,
      String state,
      String exitCode,
      String nodes,
      Duration elapsed,
      Duration timeLimit,
      Optional<Long> peakBytes,
      Optional<Long> memoryBytes) {

    static Accounted of(EndedAttempt attempt, Duration timeLimit) {
      return new Accounted(
          attempt.jobId().orElse(0L),
          attempt.printed(),
          attempt.exitCode(),
          attempt.nodes(),
          attempt.elapsed(),
          timeLimit,
          Optional.empty(),
          Optional.empty());
    }

    Accounted using(Optional<Long> peak, Optional<Long> memory) {
      return new Accounted(jobId, state, exitCode, nodes, elapsed, timeLimit, peak, memory);
    }
  }

  /**
   * Returns a copy that names the user who cancelled the task, where Slurm gives a uid.
   *
   * @param names the login name of a uid; empty if it is not known
   */
  Failure cancelledBy(Function<String, Optional<String>> names) {
    String state = slurm.map(Accounted::state).orElse("");
    if (verdict.root().filter(root -> root.id().equals("cancelled")).isEmpty()
        || !state.matches("CANCELLED by [1-9]\\d*")) {
      return this;
    }
    String uid = state.substring("CANCELLED by ".length());
    return names
        .apply(uid)
        .map(name -> verdict.meaning("The user " + name + " (uid " + uid + ") cancelled it."))
        .map(named -> with(slurm, named, remedy))
        .orElse(this);
  }

  /** Returns a copy with what is known now. */
  Failure with(Optional<Accounted> accounted, Verdict revised, Optional<Remedy> change) {
    return new Failure(
        place, accounted, revised, confirmations, followed, change, log, status, clues, lastLines);
  }

  /** Returns the cause in one sentence. */
  public String sentence() {
    Optional<Finding> root = verdict.root();
    if (root.isPresent()) {
      return (verdict.certain() ? "" : "Probably: ") + root.get().sentence();
    }
    return status.isPresent()
        ? ExitWords.sentence(status.getAsInt(), lastLines)
        : "No record and no log says why.";
  }
}
