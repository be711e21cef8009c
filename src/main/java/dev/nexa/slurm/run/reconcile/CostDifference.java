package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.documents.RunCost;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Explains why a run did not cost what was reserved. The parts add up to the difference; a negative
 * part is money that was reserved and not spent. Immutable.
 *
 * <p>A reservation covers, for each task, all allowed attempts at the longest time. A task that was
 * never submitted or never started returns all of it. Other tasks return the attempts that they did
 * not need, and the unused time of each attempt. The API tokens are reserved once for the run.
 *
 * @param parts the parts by name, in the order of the cost file
 */
record CostDifference(Map<String, Money> parts) {
  private static final Set<JobState> NEVER_SUBMITTED =
      Set.of(JobState.NOT_SUBMITTED, JobState.REFUSED, JobState.VANISHED);

  /**
   * Computes the parts of {@code cost.ofReserved() - reserved}.
   *
   * @param reserved the run's reservation, with the reservations of its reruns
   * @param reservedMore the reservations of the reruns
   * @return empty if the estimate has no reservation by attempt: an imported job, or an estimate of
   *     an old version
   */
  static Optional<CostDifference> of(
      RunFacts facts, RunOutcome outcome, RunCost cost, Money reserved, BigDecimal reservedMore) {
    Optional<Long> attempts = facts.estimate().attempts();
    Optional<Long> longest = facts.estimate().longestAttemptSeconds();
    if (attempts.isEmpty() || longest.isEmpty()) {
      return Optional.empty();
    }
    long each = attempts.get();
    long longestSeconds = longest.get();
    BigDecimal whole = planned(facts, longestSeconds);
    if (!facts.planned().groups().isEmpty()) {
      return Optional.empty(); // its parts are of tasks that are all alike
    }
    Map<Integer, Integer> used = new HashMap<>();
    Map<String, Long> seconds = new LinkedHashMap<>();
    long left = 0;
    for (AccountingRecord row : outcome.attempts()) {
      // The next row goes on with the same attempt.
      boolean part = row.state() == JobState.RESIZING;
      used.merge(row.tasks().indices().get(0), part ? 0 : 1, Integer::sum);
      seconds.merge(row.allocTres(), row.elapsedSeconds(), Math::addExact);
      left = Math.addExact(left, (part ? 0 : longestSeconds) - row.elapsedSeconds());
    }
    long notRun = 0;
    long notStarted = 0;
    long notUsed = 0;
    for (TaskOutcome task : outcome.tasks()) {
      int ran = used.getOrDefault(task.task(), 0);
      if (ran > 0) {
        notUsed += each - ran;
      } else if (NEVER_SUBMITTED.contains(task.state())) {
        notRun += each;
      } else {
        notStarted += each;
      }
    }
    BigDecimal otherwise = BigDecimal.ZERO;
    for (Map.Entry<String, Long> held : seconds.entrySet()) {
      otherwise =
          otherwise
              .add(priced(facts, held.getKey(), held.getValue()))
              .subtract(planned(facts, held.getValue()));
    }
    BigDecimal again = whole.multiply(BigDecimal.valueOf(notUsed)).add(reservedMore);
    Map<String, Money> parts = new LinkedHashMap<>();
    Rates rates = facts.rates();
    put(parts, rates, "tasks_not_run", whole.multiply(BigDecimal.valueOf(-notRun)));
    put(parts, rates, "not_started", whole.multiply(BigDecimal.valueOf(-notStarted)));
    put(parts, rates, "attempts_not_used", again.negate());
    put(parts, rates, "time_not_used", planned(facts, left).negate());
    put(parts, rates, "held_otherwise", otherwise);
    if (!facts.work().grown().isEmpty()) {
      BigDecimal all = whole.multiply(BigDecimal.valueOf(each * facts.tasks()));
      EstimateFile estimate = facts.estimate();
      BigDecimal sized = estimate.reserved().subtract(estimate.reservedTokens());
      put(parts, rates, "grown", all.subtract(sized));
    }
    if (cost.tokens().isPresent()) {
      Money most = new Money(facts.estimate().reservedTokens(), rates.currency());
      parts.put("api_tokens_not_used", cost.tokens().get().minus(most));
    }
    Money rest = cost.ofReserved().minus(reserved);
    for (Money part : parts.values()) {
      rest = rest.minus(part);
    }
    parts.put("rounding", rest.rounded());
    return Optional.of(new CostDifference(parts));
  }

  private static void put(
      Map<String, Money> parts, Rates rates, String name, BigDecimal unrounded) {
    parts.put(name, new Money(unrounded, rates.currency()).rounded());
  }

  private static BigDecimal planned(RunFacts facts, long seconds) {
    return priced(facts, facts.planned().tres(), seconds);
  }

  /**
   * Prices an allocation. Negative seconds give a negative price: an attempt took longer than was
   * reserved.
   */
  private static BigDecimal priced(RunFacts facts, String tres, long seconds) {
    BigDecimal priced = facts.rates().unrounded(RunOutcome.charged(tres, Math.abs(seconds), facts));
    return seconds < 0 ? priced.negate() : priced;
  }
}
