package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import java.util.List;
import java.util.Optional;

/**
 * What stands beside a reservation: what the run will probably cost, and how far such words were
 * off so far.
 *
 * @param expected empty where nobody can tell
 * @param unknown why nobody can; empty where somebody can
 * @param accuracy of past runs like it; empty where there are none
 * @param history the past runs like it
 * @param data that the run goes through
 */
public record Outlook(
    Optional<Expected> expected,
    Optional<String> unknown,
    Optional<ErrorBand> accuracy,
    Optional<History> history,
    DataSize data) {

  private static final String FIRST = "no past run like this yet";

  /** The few that are told by name. */
  private static final int SHOWN = Quantiles.FEWEST - 1;

  /** Of a run that is the first of its kind. */
  public static Outlook first(DataSize data, Optional<Expected> stated) {
    return new Outlook(
        stated,
        stated.isPresent() ? Optional.empty() : Optional.of(FIRST),
        Optional.empty(),
        Optional.empty(),
        data);
  }

  /**
   * Of what is known of it.
   *
   * @param stated by the config itself; it goes before the past runs
   */
  public static Outlook of(
      Plan plan, Estimate estimate, DataSize data, List<PastRun> past, Optional<Expected> stated) {
    History history = History.of(plan, data, past, estimate.rates());
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

  /** The same, with what arithmetic says where neither the config nor past runs tell. */
  public Outlook otherwise(Optional<Expected> analytic) {
    boolean better = expected.isPresent() && expected.get().method() != Expected.Method.ANALYTIC;
    return better || analytic.isEmpty()
        ? this
        : new Outlook(analytic, Optional.empty(), accuracy, history, data);
  }

  private static String tooFew(History history) {
    List<PastRun> runs = history.runs();
    StringBuilder text = new StringBuilder();
    text.append("too few past runs like this (").append(runs.size()).append("): ");
    for (int i = 0; i < Math.min(SHOWN, runs.size()); i++) {
      text.append(i == 0 ? "" : ", ").append(runs.get(i).runId());
      text.append(" cost ").append(runs.get(i).cost());
    }
    return text.toString();
  }

  /** What is told of past runs where no band is. */
  public String accuracySentence() {
    return accuracy.isPresent() ? accuracy.get().sentence() : FIRST;
  }

  /** Adds it to an estimate's document. */
  public JsonObject into(JsonObject estimate) {
    estimate
        .with("expected", expected.isPresent() ? expected.get().toJson() : null)
        .withOptional("expected_unknown", unknown)
        .with("accuracy", accuracy.isPresent() ? accuracy.get().toJson() : null);
    return data.known() ? estimate.with("data", data.toJson()) : estimate;
  }
}
