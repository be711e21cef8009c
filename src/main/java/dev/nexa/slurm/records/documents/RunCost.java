package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.CostLine;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cost of a run so far, by the price book. It is computed once; the run's manifest, cost file
 * and row of status show it.
 *
 * @param compute the cost of the attempts that have ended
 * @param beside the lines of {@link PricedUnit#BESIDE} that are known, by unit
 * @param tokens the cost of the tokens of a paid API; empty if the run uses none
 * @param lines the priced lines of all these
 * @param notMeasured the parts that nothing measures, which stand as zero, and those that are
 *     incomplete
 * @param lacks a phrase that names the tokens which the cost does not include, or not yet; empty if
 *     it includes all
 * @param unknownTokens an object of {@link CostFile#unknownTokens}; empty if there are no such
 *     requests
 * @param limits sentences about what the cost of an ended run may lack
 */
public record RunCost(
    Money compute,
    Map<PricedUnit, CostLine> beside,
    Optional<Money> tokens,
    List<CostLine> lines,
    List<String> notMeasured,
    Optional<String> lacks,
    Optional<JsonObject> unknownTokens,
    List<String> limits) {
  /** Returns the cost of what an estimate reserves: the attempts, and the tokens of a paid API. */
  public Money ofReserved() {
    return tokens.isPresent() ? compute.plus(tokens.get()) : compute;
  }

  /** Returns the whole cost. */
  public Money total() {
    Money total = ofReserved();
    for (CostLine line : beside.values()) {
      total = total.plus(line.amount());
    }
    return total;
  }
}
