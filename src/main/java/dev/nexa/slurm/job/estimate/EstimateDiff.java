package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonDiff;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.plan.PlanFile;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Compares two estimates: the changed keys, and their effect on the cost. Pure. */
public record EstimateDiff(Side before, Side after) {
  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);
  private static final BigDecimal NOTHING = BigDecimal.ZERO.setScale(2);

  /** Keys that repeat another key or do not affect the run. */
  private static final Set<String> NOISE =
      Set.of(
          ("schema_version nexa_slurm_version config script_digest partition_reason hardware tags notes"
                  + " message_timeout_seconds allocation.time_limit_seconds")
              .split(" ", -1));

  /**
   * One of the two estimates.
   *
   * @param name the config's path or the run's id
   */
  public record Side(String name, PlanFile plan, EstimateFile estimate) {
    public Money total() {
      return estimate.reservation();
    }

    /** Returns the expected cost; empty if there is none. */
    Optional<Money> expected() {
      return estimate.expected().map(amount -> new Money(amount, estimate.currency()));
    }

    Map<String, CostLine> lines() {
      Map<String, CostLine> lines = new LinkedHashMap<>();
      estimate.lines().forEach(line -> lines.put(line.what(), line));
      return lines;
    }
  }

  /**
   * A key whose value differs.
   *
   * @param key the config's name of the key, if it has one: {@code resources.nodes}
   * @param before null if only the second plan has the key
   * @param after null if only the first plan has the key
   */
  public record Change(String key, @Nullable Object before, @Nullable Object after) {}

  /** A priced line of either estimate. Quantity and amount are zero in an estimate without it. */
  public record Line(
      String what,
      String unit,
      BigDecimal quantityBefore,
      BigDecimal quantityAfter,
      Money before,
      Money after) {
    public Money difference() {
      return after.minus(before);
    }
  }

  /**
   * Creates a comparison.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the currencies differ
   */
  public EstimateDiff {
    String one = before.estimate.currency();
    String two = after.estimate.currency();
    if (!one.equals(two)) {
      throw ErrorCode.CURRENCY_MISMATCH.error(
          before.name + " is in " + one + ", " + after.name + " in " + two,
          "money of two currencies can't be compared: take clusters whose price books are in one");
    }
  }

  /** Returns the second reservation before rounding. */
  public BigDecimal unroundedAfter() {
    return CostLine.unrounded(after.estimate().lines());
  }

  public Money difference() {
    return after.total().minus(before.total());
  }

  /** Returns the first expected cost; empty unless both estimates have one. */
  public Optional<Money> expectedBefore() {
    return after.expected().isEmpty() ? Optional.empty() : before.expected();
  }

  /** Returns the second expected cost; empty unless both estimates have one. */
  public Optional<Money> expectedAfter() {
    return before.expected().isEmpty() ? Optional.empty() : after.expected();
  }

  /**
   * Returns the difference of the reservations in percent of the first; empty if the first is zero.
   */
  public Optional<BigDecimal> percent() {
    return percent(before.total(), after.total());
  }

  /**
   * Returns by how many percent the second amount exceeds the first, with one decimal; empty if the
   * first is zero.
   */
  public static Optional<BigDecimal> percent(Money first, Money second) {
    if (first.amount().signum() == 0) {
      return Optional.empty();
    }
    BigDecimal more = second.minus(first).amount().multiply(HUNDRED);
    return Optional.of(more.divide(first.amount(), 1, RoundingMode.HALF_EVEN));
  }

  /**
   * Returns the part of the difference that price changes cause: the first estimate's quantities
   * times the differences in price.
   */
  public Money ofPrices() {
    Money sum = Money.zero(before.estimate.currency());
    Map<String, CostLine> newer = after.lines();
    for (CostLine line : before.lines().values()) {
      CostLine other = newer.get(line.what());
      if (other != null) {
        BigDecimal dearer = other.unitPrice().subtract(line.unitPrice());
        sum = sum.plus(Money.line(line.quantity(), dearer, sum.currency()));
      }
    }
    return sum;
  }

  /**
   * Returns the lines of both estimates: first the lines of the first estimate, then the lines that
   * only the second has.
   */
  public List<Line> lines() {
    Map<String, CostLine> one = before.lines();
    Map<String, CostLine> two = after.lines();
    Set<String> names = new LinkedHashSet<>(one.keySet());
    names.addAll(two.keySet());
    List<Line> lines = new ArrayList<>();
    for (String name : names) {
      CostLine old = one.get(name);
      CostLine now = two.get(name);
      lines.add(
          new Line(
              name,
              Objects.requireNonNull(now == null ? old : now).unit(),
              old == null ? NOTHING : old.quantity(),
              now == null ? NOTHING : now.quantity(),
              old == null ? new Money(NOTHING, before.estimate.currency()) : old.amount(),
              now == null ? new Money(NOTHING, before.estimate.currency()) : now.amount()));
    }
    return lines;
  }

  /** Returns the keys whose values differ, in the order of the plans. */
  public List<Change> changes() {
    return JsonDiff.between(before.plan.json(), after.plan.json()).stream()
        .filter(change -> !NOISE.contains(change.path()))
        .map(change -> new Change(name(change.path()), change.before(), change.after()))
        .toList();
  }

  /** Returns the config's name of a plan's key. */
  private static String name(String key) {
    if (key.startsWith("allocation.")) {
      String rest = key.substring("allocation.".length());
      return "resources."
          + (rest.equals("time_limit") ? "time" : rest.equals("memory_bytes") ? "memory" : rest);
    }
    return key.startsWith("training.") ? key.substring("training.".length()) : key;
  }

  /**
   * Returns whether the reservation grew by more than a threshold.
   *
   * @param inPercent whether the threshold is a percentage of the first reservation, not an amount
   */
  public boolean isOver(BigDecimal threshold, boolean inPercent) {
    BigDecimal more = difference().amount();
    return inPercent
        ? more.multiply(HUNDRED).compareTo(before.total().amount().multiply(threshold)) > 0
        : more.compareTo(threshold) > 0;
  }

  /** Returns the document that {@code --json} prints. */
  public JsonObject toJson() {
    return new JsonObject()
        .with("schema_version", 1)
        .with("before", before.name)
        .with("after", after.name)
        .with("currency", before.estimate.currency())
        .with("changes", changes().stream().map(Codec::write).toList())
        .with(
            "reservation",
            pair(before.total(), after.total())
                .with("percent", percent().orElse(null))
                .with("of_prices", ofPrices().amount().toPlainString())
                .with("lines", lines().stream().map(EstimateDiff::json).toList()))
        .with(
            "expected",
            expectedBefore().map(one -> pair(one, expectedAfter().orElseThrow())).orElse(null));
  }

  private static JsonObject json(Line line) {
    return new JsonObject()
        .with("what", line.what())
        .with("unit", line.unit())
        .with("quantity_before", line.quantityBefore().toPlainString())
        .with("quantity_after", line.quantityAfter().toPlainString())
        .with("before", line.before().amount().toPlainString())
        .with("after", line.after().amount().toPlainString())
        .with("difference", line.difference().amount().toPlainString());
  }

  private static JsonObject pair(Money one, Money two) {
    return new JsonObject()
        .with("before", one.amount().toPlainString())
        .with("after", two.amount().toPlainString())
        .with("difference", two.minus(one).amount().toPlainString());
  }
}
