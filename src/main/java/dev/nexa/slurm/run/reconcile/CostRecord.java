package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.results.TaskResults;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes {@code cost_<run_id>.json}: the keys of the project's specification, and every cost line
 * and attempt, so that each cent can be traced to a row of sacct. Reads and writes no file.
 */
public final class CostRecord {
  private static final long HOUR = 3600;
  private static final int DECIMALS = 6;

  /** Figures of an attempt that exist only if the profile's sacct_fields name them. */
  public static final Set<String> ASKED_FOR = Set.of("planned_seconds", "restart");

  private CostRecord() {}

  /**
   * Returns the run's cost so far: its ended attempts at the rates of its estimate, its durable
   * files, its egress and its API tokens. Tokens count as soon as a task reports them, because they
   * are paid for.
   *
   * @param results the tasks' results, whose metrics may give egress and API tokens
   */
  public static RunCost cost(
      RunFacts facts, RunState journal, RunOutcome outcome, TaskResults results) {
    Rates rates = facts.rates();
    List<CostLine> lines = new ArrayList<>(rates.price(outcome.used()));
    Money compute = rates.total(lines);
    Map<PricedUnit, CostLine> beside = beside(facts, journal, outcome, results);
    lines.addAll(beside.values());
    Optional<ApiTokens> most = facts.estimate().apiTokens();
    Optional<PaidTokens> paid =
        most.isPresent()
            ? Optional.of(PaidTokens.of(most.get().model(), outcome, results))
            : Optional.empty();
    List<CostLine> tokens = tokens(rates, paid);
    lines.addAll(tokens);
    List<String> limits = new ArrayList<>();
    if (outcome.ended() && paid.isPresent()) {
      limits.addAll(paid.get().limits());
    }
    List<String> notMeasured = new ArrayList<>();
    for (PricedUnit unit : PricedUnit.BESIDE) {
      boolean told = CostFile.ALWAYS.contains(unit) || rates.units().containsKey(unit);
      if (told && !beside.containsKey(unit)) {
        notMeasured.add(unit.key());
      }
    }
    // Some tasks may have reported it: the part is then in the breakdown, but incomplete.
    for (String part : results.charged().notMeasured()) {
      if (outcome.ended() && !notMeasured.contains(part)) {
        notMeasured.add(part);
      }
    }
    if (!limits.isEmpty() || (paid.isPresent() && tokens.isEmpty())) {
      notMeasured.add("api_tokens");
    }
    if (outcome.ended()) {
      limits.addAll(results.charged().limits());
    }
    return new RunCost(
        compute,
        beside,
        paid.isPresent() ? Optional.of(rates.total(tokens)) : Optional.empty(),
        lines,
        notMeasured,
        paid.isPresent() ? paid.get().lacks() : Optional.empty(),
        unknown(rates, paid),
        limits);
  }

  private static List<CostLine> tokens(Rates rates, Optional<PaidTokens> paid) {
    return paid.isPresent() && paid.get().used().isPresent()
        ? rates.tokens(paid.get().used().get())
        : List.of();
  }

  /** Returns the requests whose answers never arrived; empty if there are none. */
  private static Optional<JsonObject> unknown(Rates rates, Optional<PaidTokens> paid) {
    if (paid.isEmpty() || paid.get().unknown().isEmpty()) {
      return Optional.empty();
    }
    PaidTokens.Unknown unknown = paid.get().unknown().get();
    List<CostLine> most =
        unknown.most().isPresent() ? rates.tokens(unknown.most().get()) : List.of();
    return Optional.of(CostFile.unknownTokens(unknown.requests(), most));
  }

  /**
   * Returns the lines of what the run has beside its allocations: durable files, for the whole time
   * that they are kept, and of an ended run its egress and its energy. What is unknown or has no
   * price is left out.
   */
  private static Map<PricedUnit, CostLine> beside(
      RunFacts facts, RunState journal, RunOutcome outcome, TaskResults results) {
    Rates rates = facts.rates();
    Map<PricedUnit, CostLine> lines = new EnumMap<>(PricedUnit.class);
    if (facts.kept().isPresent() && journal.durableBytes().isPresent()) {
      rates
          .storage(journal.durableBytes().get(), facts.kept().get().days())
          .ifPresent(line -> lines.put(PricedUnit.STORAGE, line));
    }
    if (outcome.ended()) {
      results
          .charged()
          .egress()
          .flatMap(rates::egress)
          .ifPresent(line -> lines.put(PricedUnit.EGRESS, line));
      if (rates.units().containsKey(PricedUnit.ENERGY)) {
        EnergyUse.line(facts, outcome, results)
            .ifPresent(line -> lines.put(PricedUnit.ENERGY, line));
      }
    }
    return lines;
  }

  /**
   * Returns the record. Its reservation includes the reservations of reruns.
   *
   * @param cost the run's {@link #cost}
   * @param results the tasks' results, whose metrics may give GPU utilization
   * @param credited the states whose attempts the cluster pays for
   */
  static CostFile of(
      RunFacts facts,
      RunState journal,
      RunOutcome outcome,
      RunCost cost,
      TaskResults results,
      Set<JobState> credited) {
    Rates rates = facts.rates();
    // Without attempts, as at the submit, the class need not be loaded.
    Optional<EnergyUse> energy =
        outcome.attempts().isEmpty() ? Optional.empty() : EnergyUse.of(facts, outcome, results);
    Waste waste = Waste.of(facts, outcome, results);
    Money credit = rates.total(rates.price(outcome.usage(credited, facts)));
    Money reserved = reserved(facts, journal);
    Optional<CostDifference> parts =
        CostDifference.of(facts, outcome, cost, reserved, journal.reservedMore());
    List<String> limits = limits(outcome);
    limits.addAll(cost.limits());
    return CostFile.of(
            facts.id(), cost, journal.timesFinished() + 1, journal.costDigest(), outcome.status())
        .estimate(facts.estimate(), reserved)
        .limits(limits)
        .difference(cost.ofReserved().minus(reserved), parts.map(CostDifference::parts))
        .waste(waste.total(), waste.failures(), waste.idleGpus())
        .credit(credit, credited)
        .energy(
            energy.isPresent()
                ? Optional.of(energy.get().toJson(facts.energy()))
                : Optional.empty())
        .actual(outcome.used(), journal.durableBytes(), cost, attempts(facts, outcome));
  }

  /** Returns the reservation of the run and its reruns. */
  private static Money reserved(RunFacts facts, RunState journal) {
    BigDecimal first = facts.estimate().reserved();
    return new Money(first.add(journal.reservedMore()), facts.rates().currency());
  }

  /**
   * Returns a sentence if the run's attempts cost more than was reserved, because Slurm gave the
   * run more time or attempts than was planned. Empty if they did not, and for an imported job,
   * which has no reservation.
   */
  static Optional<String> overrun(RunFacts facts, RunState journal, RunOutcome outcome) {
    Money compute = facts.rates().total(facts.rates().price(outcome.used()));
    // Reserved API tokens must not hide attempts that were too long.
    BigDecimal tokens = facts.estimate().reservedTokens();
    Money reserved = reserved(facts, journal).minus(new Money(tokens, facts.rates().currency()));
    return !facts.estimate().isOfImported() && compute.compareTo(reserved) > 0
        ? Optional.of(
            ("cost %s, over its reservation of %s: Slurm gave it more time or attempts than was"
                    + " planned; compare its attempts (`nexa-slurm costs show %s`) with the"
                    + " cluster profile's slurm: section and `scontrol show config`")
                .formatted(compute, reserved, facts.id()))
        : Optional.empty();
  }

  /** Returns each row that held an allocation, with its cost before rounding to cents. */
  private static List<JsonObject> attempts(RunFacts facts, RunOutcome outcome) {
    Map<String, Held> known = new HashMap<>();
    List<JsonObject> attempts = new ArrayList<>(outcome.attempts().size());
    for (AccountingRecord row : outcome.attempts()) {
      Held held = known.computeIfAbsent(row.allocTres(), tres -> Held.of(tres, facts));
      boolean requested = held.fromRequest() || row.witness() == AccountingRecord.Witness.JOB;
      String cost = held.cost(row.elapsedSeconds());
      attempts.add(
          CostFile.attempt(row, held.cpus(), held.memoryBytes(), held.gpus(), requested, cost));
    }
    return attempts;
  }

  /**
   * An allocation that thousands of attempts may share.
   *
   * @param fromRequest whether the GPUs are the plan's, because accounting has none
   * @param perHour the cost of holding the allocation for an hour
   */
  private record Held(
      long cpus, long memoryBytes, JsonObject gpus, boolean fromRequest, BigDecimal perHour) {
    static Held of(String allocTres, RunFacts facts) {
      Tres tres = Tres.parse(allocTres);
      JsonObject gpus = new JsonObject();
      tres.gpusBy(facts.planned().gpuType().orElse("gpu"), facts.planned().gpus())
          .forEach(gpus::with);
      return new Held(
          tres.cpus(),
          tres.memoryBytes(),
          gpus,
          tres.gpus().isEmpty() && facts.planned().gpus() > 0,
          facts.rates().unrounded(RunOutcome.charged(allocTres, HOUR, facts)));
    }

    String cost(long seconds) {
      return perHour
          .multiply(BigDecimal.valueOf(seconds))
          .divide(BigDecimal.valueOf(HOUR), DECIMALS, RoundingMode.HALF_EVEN)
          .toPlainString();
    }
  }

  /** Returns the limits of rows that do not come from accounting. */
  private static List<String> limits(RunOutcome outcome) {
    boolean job = false;
    boolean controller = false;
    for (AccountingRecord row : outcome.attempts()) {
      job |= row.witness() == AccountingRecord.Witness.JOB;
      controller |= row.witness() == AccountingRecord.Witness.CONTROLLER;
    }
    List<String> limits = new ArrayList<>();
    if (job) {
      limits.add(
          "witness job: what it held is what was planned; its signal and the clock tell what ended"
              + " it; one that was killed outright is given its time limit");
    }
    if (controller) {
      limits.add(
          "witness controller: slurmctld's memory of the newest attempt; no accounting keeps it, so"
              + " it can't be looked up again");
    }
    return limits;
  }
}
