package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;

/**
 * Money that was spent without a result. Immutable; reads no file.
 *
 * @param failures for each end state without a result, the cost of the attempts
 * @param idleGpus the cost of the idle time of GPUs in completed attempts; empty if no task reports
 *     {@code gpu_utilization}, or if the price book does not price GPUs
 */
record Waste(Map<JobState, Money> failures, Optional<Money> idleGpus, String currency) {
  static Waste of(RunFacts facts, RunOutcome outcome, TaskResults results) {
    EnumSet<JobState> states = EnumSet.noneOf(JobState.class);
    for (AccountingRecord row : outcome.attempts()) {
      states.add(outcome.cameTo(row));
    }
    states.removeAll(RunOutcome.withResult(facts.labels().stage()));
    Map<JobState, Money> failures = new EnumMap<>(JobState.class);
    for (JobState state : states) {
      Usage usage = outcome.usage(EnumSet.of(state), facts);
      failures.put(state, facts.rates().total(facts.rates().price(usage)));
    }
    return new Waste(failures, idle(facts, outcome, results), facts.rates().currency());
  }

  private static Optional<Money> idle(RunFacts facts, RunOutcome outcome, TaskResults results) {
    Map<Integer, BigDecimal> utilization = results.charged().gpuUtilization();
    // A price for a node or a billing unit does not show the cost of its GPUs.
    if (utilization.isEmpty() || !facts.rates().terms().partsAreCharged()) {
      return Optional.empty();
    }
    BigDecimal sum = BigDecimal.ZERO;
    for (AccountingRecord row : outcome.attempts()) {
      BigDecimal used = utilization.get(row.tasks().indices().get(0));
      if (used != null && outcome.cameTo(row) == JobState.COMPLETED) {
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
}
