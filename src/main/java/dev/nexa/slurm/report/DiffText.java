package dev.nexa.slurm.report;

import dev.nexa.slurm.estimate.EstimateDiff;
import dev.nexa.slurm.estimate.EstimateDiff.Change;
import dev.nexa.slurm.estimate.EstimateDiff.Line;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The difference of two estimates for people, at a terminal or under a pull request. */
public final class DiffText {
  /** Of a longer value only the beginning is shown: {@code --json} has all of it. */
  private static final int LONGEST = 60;

  private DiffText() {}

  public static String text(EstimateDiff diff) {
    StringBuilder text = new StringBuilder();
    text.append(heading(diff)).append(".\n\n").append(costs(diff).table());
    List<Change> changes = diff.changes();
    text.append(changes.isEmpty() ? "\nNothing else changed.\n" : "\n" + keys(changes).table());
    return text.append(prices(diff).map(line -> "\n" + line + ".\n").orElse("")).toString();
  }

  /** Markdown as code forges show it; the changed keys are folded away. */
  public static String markdown(EstimateDiff diff) {
    StringBuilder text = new StringBuilder();
    text.append("### ").append(heading(diff)).append("\n\n").append(costs(diff).markdown());
    text.append(prices(diff).map(line -> "\n" + line + ".\n").orElse(""));
    List<Change> changes = diff.changes();
    if (changes.isEmpty()) {
      return text.append("\nNothing else changed.\n").toString();
    }
    return text.append("\n<details><summary>")
        .append(changes.size())
        .append(changes.size() == 1 ? " changed key" : " changed keys")
        .append("</summary>\n\n")
        .append(keys(changes).markdown())
        .append("\n</details>\n")
        .toString();
  }

  private static String heading(EstimateDiff diff) {
    Money more = diff.difference();
    String names = names(diff.before().name(), diff.after().name());
    return more.amount().signum() == 0
        ? names + ": costs the same, at most " + diff.totalAfter()
        : names + ": " + signed(more) + percent(diff.percent());
  }

  /** One name for a file and its earlier version in another folder. */
  private static String names(String before, String after) {
    return before.endsWith("/" + after) ? after : before + " → " + after;
  }

  private static String percent(Optional<BigDecimal> percent) {
    return percent.map(part -> " (" + sign(part) + part.toPlainString() + " %)").orElse("");
  }

  private static Optional<String> prices(EstimateDiff diff) {
    Money prices = diff.ofPrices();
    return prices.amount().signum() == 0
        ? Optional.empty()
        : Optional.of("Of that " + signed(prices) + " comes of other prices alone");
  }

  private static Grid costs(EstimateDiff diff) {
    Grid grid = new Grid(List.of("cost", "before", "after", "difference"));
    grid.row(row("at most", diff.totalBefore(), diff.totalAfter()));
    Optional<Money> before = diff.expectedBefore();
    Optional<Money> after = diff.expectedAfter();
    if (before.isPresent() && after.isPresent()) {
      grid.row(row("probably", before.get(), after.get()));
    }
    for (Line line : diff.lines()) {
      grid.row(
          List.of(
              line.what(),
              quantity(line.quantityBefore(), line.unit(), line.before()),
              quantity(line.quantityAfter(), line.unit(), line.after()),
              signed(line.difference())));
    }
    return grid;
  }

  private static List<String> row(String what, Money before, Money after) {
    return List.of(
        what,
        before.toString(),
        after.toString(),
        signed(after.minus(before)) + percent(EstimateDiff.percent(before, after)));
  }

  private static String quantity(BigDecimal quantity, String unit, Money amount) {
    return amount.amount().toPlainString()
        + " ("
        + quantity.setScale(2, RoundingMode.HALF_EVEN).toPlainString()
        + " "
        + unit
        + ")";
  }

  private static Grid keys(List<Change> changes) {
    Grid grid = new Grid(List.of("key", "before", "after"));
    for (Change change : changes) {
      grid.row(
          List.of(
              change.key(),
              value(change.key(), change.before()),
              value(change.key(), change.after())));
    }
    return grid;
  }

  private static String value(String key, @Nullable Object value) {
    if (value == null) {
      return "";
    }
    if (value instanceof BigDecimal || value instanceof Number) {
      String number = value instanceof BigDecimal ten ? ten.toPlainString() : value.toString();
      boolean memory = key.equals("resources.memory") || key.endsWith("memory_bytes");
      return memory ? Memory.words(Long.parseLong(number)) : number;
    }
    String text = value.toString().replace('\n', ' ').strip();
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 1) + "…";
  }

  private static String signed(Money money) {
    return sign(money.amount()) + money;
  }

  private static String sign(BigDecimal amount) {
    return amount.signum() > 0 ? "+" : "";
  }
}
