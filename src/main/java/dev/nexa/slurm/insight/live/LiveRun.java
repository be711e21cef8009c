package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.status.RunRow;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;

/**
 * One run in a live view.
 *
 * @param reserved the most that the run can cost; empty if it has ended, or if that is not known
 * @param budgets the names of the budgets that the run counts for
 * @param gpuPercent how busy its GPUs are now; empty if that is not sampled
 */
public record LiveRun(
    RunId id,
    RunRow row,
    Optional<Money> reserved,
    List<String> budgets,
    Optional<Integer> gpuPercent) {

  /** Returns the cost with what the running attempts have held until now. */
  public Money cost() {
    return row.spent().now();
  }

  /** Returns the cost in percent of the reservation; empty without a reservation. */
  public Optional<Integer> percent() {
    return reserved
        .filter(most -> most.amount().signum() > 0 && most.currency().equals(cost().currency()))
        .map(most -> percent(cost().amount(), most.amount()));
  }

  static int percent(BigDecimal part, BigDecimal whole) {
    return part.movePointRight(2).divide(whole, 0, RoundingMode.HALF_EVEN).intValue();
  }
}
