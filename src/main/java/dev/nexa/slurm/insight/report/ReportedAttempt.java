package dev.nexa.slurm.insight.report;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;

/**
 * One attempt of a task: a row of sacct, and what it cost.
 *
 * @param job the job as sacct names it, {@code 12345_7}
 * @param state as accounting printed it
 * @param nodes the node list; empty if it is not known
 * @param gpus such as {@code 4 h100}; empty for none
 * @param cost with six decimals
 */
public record ReportedAttempt(
    long task,
    String job,
    String state,
    String exitCode,
    Optional<Instant> submitted,
    Optional<Instant> started,
    long elapsedSeconds,
    String nodes,
    long cpus,
    String gpus,
    BigDecimal cost) {

  /** Returns when the attempt ended; empty if it never started. */
  public Optional<Instant> ended() {
    return started.map(at -> at.plusSeconds(elapsedSeconds));
  }

  /** Returns the first word of the state in lower case: {@code cancelled}. */
  public String word() {
    return state.split(" ", 2)[0].toLowerCase(java.util.Locale.ROOT);
  }
}
