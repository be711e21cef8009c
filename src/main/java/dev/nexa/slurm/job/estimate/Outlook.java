package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.job.plan.Plan;
import java.util.List;
import java.util.Optional;

/**
 * The part of an estimate beside the reservation: the expected cost, and how accurate such
 * estimates were.
 *
 * @param expected the expected cost; empty if it is unknown
 * @param unknown why it is unknown; empty if it is known
 * @param accuracy the errors of similar past runs; empty if there are none
 * @param history the similar past runs; empty if there are none
 * @param data the amount of data that the run processes
 */
public record Outlook(
    Optional<Expected> expected,
    Optional<String> unknown,
    Optional<ErrorBand> accuracy,
    Optional<RunsLikeThis> history,
    DataSize data) {

  private static final String FIRST = "no past run like this yet";

  /** The most past runs that a message names. */
  private static final int SHOWN = Quantiles.FEWEST - 1;

  /**
   * Returns the outlook of a run without similar past runs.
   *
   * @param stated the cost that the config itself expects
   */
  public static Outlook first(DataSize data, Optional<Expected> stated) {
    return new Outlook(
        stated,
        stated.isPresent() ? Optional.empty() : Optional.of(FIRST),
        Optional.empty(),
        Optional.empty(),
        data);
  }

  /** Returns the outlook of a run whose cost cannot be expected, for a reason. */
  public static Outlook unknown(DataSize data, String why) {
    return new Outlook(
        Optional.empty(), Optional.of(why), Optional.empty(), Optional.empty(), data);
  }

  /**
   * Returns the outlook by the config's own expectation, else by past runs.
   *
   * @param past the past runs, newest first
   * @param stated the cost that the config itself expects
   */
  public static Outlook of(
      Plan plan, Estimate estimate, DataSize data, List<PastRun> past, Optional<Expected> stated) {
    RunsLikeThis history = RunsLikeThis.of(plan, data, past, estimate.rates());
    if (history.runs().isEmpty()) {
      return first(data, stated);
    }
    Optional<Expected> expected =
        stated.isPresent() || !history.isEnough()
            ? stated
            : Optional.of(Expected.of(history, plan, estimate));
    return new Outlook(
        expected,
        expected.isPresent() ? Optional.empty() : Optional.of(tooFew(history)),
        ErrorBand.of(history.runs()),
        Optional.of(history),
        data);
  }

  /**
   * Returns a copy with an estimate from FLOPs, unless the config or past runs give the expected
   * cost.
   */
  public Outlook otherwise(Optional<Expected> analytic) {
    boolean better = expected.isPresent() && expected.get().method() != Expected.Method.ANALYTIC;
    return better || analytic.isEmpty()
        ? this
        : new Outlook(analytic, Optional.empty(), accuracy, history, data);
  }

  private static String tooFew(RunsLikeThis history) {
    List<PastRun> runs = history.runs();
    StringBuilder text = new StringBuilder();
    text.append("too few past runs like this (").append(runs.size()).append("): ");
    for (int i = 0; i < Math.min(SHOWN, runs.size()); i++) {
      text.append(i == 0 ? "" : ", ").append(runs.get(i).runId());
      text.append(" cost ").append(runs.get(i).cost());
    }
    return text.toString();
  }

  /**
   * Returns the sentence about accuracy, or that there is no past run. Empty if there are past runs
   * whose error cannot be computed, as for sums below a cent.
   */
  public Optional<String> accuracySentence() {
    return accuracy.isEmpty() && history.isEmpty()
        ? Optional.of(FIRST)
        : accuracy.map(ErrorBand::sentence);
  }
}
