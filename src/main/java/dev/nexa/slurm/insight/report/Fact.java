package dev.nexa.slurm.insight.report;

/**
 * A line of a run's page.
 *
 * @param mayLeave whether a redacted report keeps it: it holds a number, a time or a word of ours
 */
public record Fact(String label, String value, boolean mayLeave) {
  /** Returns a fact that a redacted report keeps. */
  static Fact open(String label, String value) {
    return new Fact(label, value, true);
  }

  /**
   * Returns a fact that a redacted report leaves out: a path, a host, a text of a user or a job.
   */
  static Fact internal(String label, String value) {
    return new Fact(label, value, false);
  }
}
