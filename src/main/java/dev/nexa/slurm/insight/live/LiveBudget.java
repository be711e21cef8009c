package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * One budget in a live view.
 *
 * @param name the budget's name, such as {@code project nlp}
 * @param period the period, such as {@code 2026-11}
 * @param spent the cost of ended runs, and of unfinished runs until now
 * @param reserved what unfinished runs may still cost
 */
public record LiveBudget(
    String name, String period, Money amount, BigDecimal spent, BigDecimal reserved) {

  /** Returns spent and reserved in percent of the budget; empty for a budget of 0. */
  public Optional<Integer> percent() {
    return amount.amount().signum() == 0
        ? Optional.empty()
        : Optional.of(LiveRun.percent(spent.add(reserved), amount.amount()));
  }

  /** Returns the budget in words: {@code project nlp 2026-11: 8.00 of 10.00 USD spent}. */
  public String words() {
    return "%s %s: %s of %s spent%s%s"
        .formatted(
            name,
            period,
            plain(spent),
            amount.rounded(),
            reserved.signum() > 0 ? ", " + plain(reserved) + " reserved" : "",
            percent().map(used -> " (" + used + " %)").orElse(""));
  }

  private String plain(BigDecimal sum) {
    return new Money(sum, amount.currency()).rounded().amount().toPlainString();
  }
}
