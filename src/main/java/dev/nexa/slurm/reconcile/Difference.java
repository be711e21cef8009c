package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Why a run did not cost what was reserved for it: parts of the difference, which add up to it.
 * What was not needed is negative. Pure.
 *
 * <p>Reserved was, for each task, so many attempts of the longest time of what was planned. A task
 * that was never submitted gives all of them back, and so does one that never started; the others
 * give back the attempts that they did not need, and each attempt its time that was left.
 *
 * @param parts by name, in the order in which they are told
 */
record Difference(Map<String, Money> parts) {

  /**
   * The parts of {@code actual - reserved}.
   *
   * @param actual what the attempts cost
   * @param reserved for the run, with what was reserved for tasks that were run again
   * @param reservedMore the part of it for tasks that were run again
   * @return empty where nothing was reserved attempt by attempt: an imported job, an old estimate
   */
  static Optional<Difference> of(
      RunFacts facts, RunOutcome outcome, Money actual, Money reserved, BigDecimal reservedMore) {
    JsonObject estimate = facts.estimate();
    Optional<BigDecimal> attempts = estimate.optionalDecimal("attempts");
    Optional<BigDecimal> longest = estimate.optionalDecimal("longest_attempt_seconds");
    if (attempts.isEmpty() || longest.isEmpty()) {
      return Optional.empty();
    }
    long each = attempts.get().longValueExact();
    long longestSeconds = longest.get().longValueExact();
    BigDecimal whole = planned(facts, longestSeconds);
    Map<Integer, Integer> used = new HashMap<>();
    Map<String, Long> seconds = new LinkedHashMap<>();
    long left = 0;
    for (AccountingRecord row : outcome.attempts()) {
      used.merge(row.tasks().indices().get(0), 1, Integer::sum);
      seconds.merge(row.allocTres(), row.elapsedSeconds(), Math::addExact);
      left = Math.addExact(left, longestSeconds - row.elapsedSeconds());
    }
    long notRun = 0;
    long notStarted = 0;
    long notUsed = 0;
    for (TaskOutcome task : outcome.tasks()) {
      int ran = used.getOrDefault(task.task(), 0);
      if (ran > 0) {
        notUsed += each - ran;
      } else if (neverSubmitted(task.state())) {
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
    Money rest = actual.minus(reserved);
    for (Money part : parts.values()) {
      rest = rest.minus(part);
    }
    parts.put("rounding", rest.rounded());
    return Optional.of(new Difference(parts));
  }

  private static void put(
      Map<String, Money> parts, Rates rates, String name, BigDecimal unrounded) {
    parts.put(name, new Money(unrounded, rates.currency()).rounded());
  }

  private static boolean neverSubmitted(JobState state) {
    return state == JobState.NOT_SUBMITTED
        || state == JobState.REFUSED
        || state == JobState.VANISHED;
  }

  private static BigDecimal planned(RunFacts facts, long seconds) {
    return priced(facts, facts.plannedTres(), seconds);
  }

  /** Seconds may be fewer than none: more time was held than was reserved. */
  private static BigDecimal priced(RunFacts facts, String tres, long seconds) {
    BigDecimal priced = facts.rates().unrounded(RunOutcome.charged(tres, Math.abs(seconds), facts));
    return seconds < 0 ? priced.negate() : priced;
  }

  JsonObject toJson() {
    JsonObject json = new JsonObject();
    for (Map.Entry<String, Money> part : parts.entrySet()) {
      json.with(part.getKey(), part.getValue().amount().toPlainString());
    }
    return json;
  }
}
