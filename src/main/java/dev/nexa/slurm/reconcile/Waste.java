package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.estimate.Usage;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.scheduler.Tres;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Money that bought nothing. Pure.
 *
 * @param failures by state, what the attempts cost that did not end COMPLETED
 * @param idleGpus what the GPUs of completed attempts cost while they were idle; empty where no
 *     task told its {@code gpu_utilization}
 */
record Waste(Map<JobState, Money> failures, Optional<Money> idleGpus, String currency) {
  /** A metric of a task: the part of the time that its GPUs worked, 0 to 1. */
  private static final String UTILIZATION = "gpu_utilization";

  static Waste of(RunFacts facts, RunOutcome outcome, Results results) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (AccountingRecord row : outcome.attempts()) {
      states.add(row.state());
    }
    states.remove(JobState.COMPLETED);
    Map<JobState, Money> failures = new EnumMap<>(JobState.class);
    for (JobState state : states) {
      Usage usage = outcome.usage(EnumSet.of(state), facts);
      failures.put(state, facts.rates().total(facts.rates().price(usage)));
    }
    return new Waste(failures, idle(facts, outcome, results), facts.rates().currency());
  }

  /** By task, the part of the time that its GPUs worked, where it told one that can be. */
  static Map<Integer, BigDecimal> utilization(Results results) {
    Map<Integer, BigDecimal> utilization = new HashMap<>();
    for (Map.Entry<Integer, JsonObject> task : results.byTask().entrySet()) {
      if (task.getValue().members().get(UTILIZATION) instanceof BigDecimal part
          && part.signum() >= 0
          && part.compareTo(BigDecimal.ONE) <= 0) {
        utilization.put(task.getKey(), part);
      }
    }
    return utilization;
  }

  private static Optional<Money> idle(RunFacts facts, RunOutcome outcome, Results results) {
    Map<Integer, BigDecimal> utilization = utilization(results);
    // A node's price, or a billing unit's, does not tell what its GPUs cost.
    if (utilization.isEmpty() || !facts.rates().terms().partsAreCharged()) {
      return Optional.empty();
    }
    BigDecimal sum = BigDecimal.ZERO;
    for (AccountingRecord row : outcome.attempts()) {
      BigDecimal used = utilization.get(row.tasks().indices().get(0));
      if (used != null && row.state() == JobState.COMPLETED) {
        Usage all = RunOutcome.usage(Tres.parse(row.allocTres()), row.elapsedSeconds(), facts);
        Usage gpus = Usage.of(all.gpuSeconds(), 0, 0, 1);
        sum = sum.add(facts.rates().unrounded(gpus).multiply(BigDecimal.ONE.subtract(used)));
      }
    }
    return Optional.of(new Money(sum, facts.rates().currency()).rounded());
  }

  Money total() {
    Money total = idleGpus.isPresent() ? idleGpus.get() : Money.zero(currency);
    for (Money failure : failures.values()) {
      total = total.plus(failure);
    }
    return total;
  }

  JsonObject toJson() {
    JsonObject json = new JsonObject();
    for (Map.Entry<JobState, Money> failure : failures.entrySet()) {
      String state = failure.getKey().name().toLowerCase(Locale.ROOT);
      json.with(state, failure.getValue().amount().toPlainString());
    }
    return json.with(
        "idle_gpus", idleGpus.isPresent() ? idleGpus.get().amount().toPlainString() : null);
  }
}
