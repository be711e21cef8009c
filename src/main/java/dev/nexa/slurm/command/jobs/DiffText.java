package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.Markdown;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.estimate.EstimateDiff;
import dev.nexa.slurm.job.estimate.EstimateDiff.Change;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Formats the difference of two estimates, for a terminal or a pull request. */
public final class DiffText {
  /** Longer values are cut. {@code --json} has them in full. */
  private static final int LONGEST = 60;

  /** From this increase in percent on, a factor is easier to read. */
  private static final BigDecimal TEN_TIMES = new BigDecimal(900);

  private DiffText() {}

  /** Returns tables of the costs and the changed keys, for a terminal. */
  public static String text(EstimateDiff diff) {
    StringBuilder text = new StringBuilder();
    text.append(heading(diff)).append(".\n\n").append(costs(diff).table());
    List<Change> changes = diff.changes();
    text.append(changes.isEmpty() ? "\nNothing else changed.\n" : "\n" + keys(changes).table());
    return text.append(prices(diff).map(line -> "\n" + line + ".\n").orElse("")).toString();
  }

  /** Returns Markdown; the changed keys are in a collapsed section. */
  public static String markdown(EstimateDiff diff) {
    StringBuilder text = new StringBuilder();
    text.append("### " + Markdown.text(heading(diff)) + "\n\n" + costs(diff).markdown());
    text.append(prices(diff).map(line -> "\n" + line + ".\n").orElse(""));
    List<Change> changes = diff.changes();
    if (changes.isEmpty()) {
      return text.append("\nNothing else changed.\n").toString();
    }
    text.append("\n<details><summary>" + changes.size());
    text.append(changes.size() == 1 ? " changed key" : " changed keys").append("</summary>\n\n");
    return text.append(keys(changes).commentTable()).append("\n</details>\n").toString();
  }

  private static String heading(EstimateDiff diff) {
    Money more = diff.difference();
    String names = names(diff.before().name(), diff.after().name());
    return more.amount().signum() == 0
        ? names + ": costs the same, " + diff.after().total().atMost(diff.unroundedAfter())
        : names + ": " + signed(more) + percent(diff.percent());
  }

  /** Returns one name for a file and its earlier version in another folder, else both names. */
  private static String names(String before, String after) {
    return before.endsWith("/" + after) ? after : before + " → " + after;
  }

  private static String percent(Optional<BigDecimal> percent) {
    return percent.map(part -> " (" + change(part) + ")").orElse("");
  }

  /** Returns {@code +12.5 %}; from ten times on {@code 388 times as much}. */
  private static String change(BigDecimal percent) {
    return percent.compareTo(TEN_TIMES) < 0
        ? sign(percent) + percent.toPlainString() + " %"
        : percent.movePointLeft(2).add(BigDecimal.ONE).setScale(0, RoundingMode.HALF_EVEN)
            + " times as much";
  }

  private static Optional<String> prices(EstimateDiff diff) {
    Money prices = diff.ofPrices();
    return prices.amount().signum() == 0
        ? Optional.empty()
        : Optional.of("Of that " + signed(prices) + " comes of other prices alone");
  }

  private static Listing<List<String>> costs(EstimateDiff diff) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(row("at most", diff.before().total(), diff.after().total()));
    Optional<Money> before = diff.expectedBefore();
    Optional<Money> after = diff.expectedAfter();
    if (before.isPresent() && after.isPresent()) {
      rows.add(row("probably", before.get(), after.get()));
    }
    for (EstimateDiff.Line line : diff.lines()) {
      rows.add(
          List.of(
              line.what(),
              quantity(line.quantityBefore(), line.unit(), line.before()),
              quantity(line.quantityAfter(), line.unit(), line.after()),
              signed(line.difference())));
    }
    return Columns.ofTexts("cost", "before", "after", "difference").of(rows);
  }

  private static List<String> row(String what, Money before, Money after) {
    return List.of(
        what,
        before.toString(),
        after.toString(),
        signed(after.minus(before)) + percent(EstimateDiff.percent(before, after)));
  }

  private static String quantity(BigDecimal quantity, String unit, Money amount) {
    String rounded = quantity.setScale(2, RoundingMode.HALF_EVEN).toPlainString();
    return amount.amount().toPlainString() + " (" + rounded + " " + unit + ")";
  }

  private static Listing<Change> keys(List<Change> changes) {
    return new Columns<Change>()
        .text("key", Change::key)
        .text("before", change -> value(change.key(), change.before()))
        .text("after", change -> value(change.key(), change.after()))
        .of(changes);
  }

  private static String value(String key, @Nullable Object value) {
    if (value == null) {
      return "";
    }
    if (value instanceof Number) {
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
