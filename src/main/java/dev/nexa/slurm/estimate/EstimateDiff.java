package dev.nexa.slurm.estimate;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
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

/** Two estimates: what changed from one to the other, and what that costs. Pure. */
public final class EstimateDiff {
  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);

  /** What says nothing, or the same as another key. */
  private static final Set<String> NOISE =
      Set.of(
          "schema_version",
          "config",
          "script_digest",
          "partition_reason",
          "hardware",
          "tags",
          "notes",
          "message_timeout_seconds",
          "allocation.time_limit_seconds");

  private final Side before;
  private final Side after;

  /**
   * One of the two.
   *
   * @param name the config's path or the run's id
   * @param plan as plan.json keeps it
   * @param estimate as estimate.json keeps it
   */
  public record Side(String name, JsonObject plan, JsonObject estimate) {
    Money total() {
      return money(estimate.object("reservation").text("total"));
    }

    /** What was expected; empty where nothing was. */
    Optional<Money> expected() {
      Optional<JsonObject> expected = estimate.optionalObject("expected");
      return expected.isPresent()
          ? Optional.of(money(expected.get().text("total")))
          : Optional.empty();
    }

    private Money money(String amount) {
      return new Money(new BigDecimal(amount), estimate.text("currency"));
    }

    Map<String, JsonObject> lines() {
      Map<String, JsonObject> lines = new LinkedHashMap<>();
      for (JsonObject line : estimate.object("reservation").objects("lines")) {
        lines.put(line.text("what"), line);
      }
      return lines;
    }
  }

  /**
   * A key whose value differs.
   *
   * @param key as the config has it, where it has it: {@code resources.nodes}
   * @param before null where it was not there
   * @param after null where it is no more
   */
  public record Change(String key, @Nullable Object before, @Nullable Object after) {}

  /** A priced line of either: its amount is zero where the other has it alone. */
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

  public EstimateDiff(Side before, Side after) {
    String one = before.estimate.text("currency");
    String two = after.estimate.text("currency");
    if (!one.equals(two)) {
      throw new NexaException(
          ExitCode.USAGE,
          before.name + " is in " + one + ", " + after.name + " in " + two,
          "money of two currencies can't be compared: take clusters whose price books are in one");
    }
    this.before = before;
    this.after = after;
  }

  public Side before() {
    return before;
  }

  public Side after() {
    return after;
  }

  /** The most each can cost. */
  public Money totalBefore() {
    return before.total();
  }

  public Money totalAfter() {
    return after.total();
  }

  public Money difference() {
    return after.total().minus(before.total());
  }

  /** What each would probably cost; empty where that is not known of both. */
  public Optional<Money> expectedBefore() {
    return after.expected().isEmpty() ? Optional.empty() : before.expected();
  }

  public Optional<Money> expectedAfter() {
    return before.expected().isEmpty() ? Optional.empty() : after.expected();
  }

  /** In percent of what was before; empty where that was nothing. */
  public Optional<BigDecimal> percent() {
    return percent(before.total(), after.total());
  }

  /** By how many percent the second is more; empty where the first is nothing. */
  public static Optional<BigDecimal> percent(Money first, Money second) {
    return first.amount().signum() == 0
        ? Optional.empty()
        : Optional.of(
            second
                .minus(first)
                .amount()
                .multiply(HUNDRED)
                .divide(first.amount(), 1, RoundingMode.HALF_EVEN));
  }

  /**
   * The part of the difference that comes of other prices alone: the first's quantities at them.
   */
  public Money ofPrices() {
    Money sum = Money.zero(before.estimate.text("currency"));
    Map<String, JsonObject> newer = after.lines();
    for (JsonObject line : before.lines().values()) {
      JsonObject other = newer.get(line.text("what"));
      if (other != null) {
        BigDecimal dearer =
            new BigDecimal(other.text("unit_price"))
                .subtract(new BigDecimal(line.text("unit_price")));
        sum = sum.plus(Money.line(new BigDecimal(line.text("quantity")), dearer, sum.currency()));
      }
    }
    return sum;
  }

  /** The priced lines of both. */
  public List<Line> lines() {
    Map<String, JsonObject> one = before.lines();
    Map<String, JsonObject> two = after.lines();
    Set<String> names = new LinkedHashSet<>(one.keySet());
    names.addAll(two.keySet());
    List<Line> lines = new ArrayList<>();
    for (String name : names) {
      JsonObject old = one.get(name);
      JsonObject now = two.get(name);
      lines.add(
          new Line(
              name,
              Objects.requireNonNull(now == null ? old : now).text("unit"),
              number(old, "quantity"),
              number(now, "quantity"),
              before.money(number(old, "amount").toPlainString()),
              before.money(number(now, "amount").toPlainString())));
    }
    return lines;
  }

  private static BigDecimal number(@Nullable JsonObject line, String member) {
    return line == null ? BigDecimal.ZERO.setScale(2) : new BigDecimal(line.text(member));
  }

  /** Each key whose value differs, in the order of the plan. */
  public List<Change> changes() {
    Map<String, Object> one = new LinkedHashMap<>();
    Map<String, Object> two = new LinkedHashMap<>();
    flatten("", before.plan, one);
    flatten("", after.plan, two);
    Set<String> keys = new LinkedHashSet<>(one.keySet());
    keys.addAll(two.keySet());
    List<Change> changes = new ArrayList<>();
    for (String key : keys) {
      Object old = one.get(key);
      Object now = two.get(key);
      if (!text(old).equals(text(now))) {
        changes.add(new Change(name(key), old, now));
      }
    }
    return changes;
  }

  private static String text(@Nullable Object value) {
    return Json.compact(value);
  }

  private static void flatten(String path, JsonObject object, Map<String, Object> leaves) {
    for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
      String key = path.isEmpty() ? member.getKey() : path + "." + member.getKey();
      Object value = member.getValue();
      if (value == null || NOISE.contains(key)) {
        continue;
      }
      if (value instanceof JsonObject inner) {
        flatten(key, inner, leaves);
      } else {
        leaves.put(key, value);
      }
    }
  }

  /** As the config calls it. */
  private static String name(String key) {
    if (key.startsWith("allocation.")) {
      String rest = key.substring("allocation.".length());
      return "resources."
          + (rest.equals("time_limit") ? "time" : rest.equals("memory_bytes") ? "memory" : rest);
    }
    return key.startsWith("training.") ? key.substring("training.".length()) : key;
  }

  /** Whether the difference is more than an amount, or than so many percent of what was before. */
  public boolean isOver(BigDecimal threshold, boolean inPercent) {
    BigDecimal more = difference().amount();
    return inPercent
        ? more.multiply(HUNDRED).compareTo(before.total().amount().multiply(threshold)) > 0
        : more.compareTo(threshold) > 0;
  }

  /** The document that {@code --json} prints. */
  public JsonObject toJson() {
    List<JsonObject> changes = new ArrayList<>();
    for (Change change : changes()) {
      changes.add(
          new JsonObject()
              .with("key", change.key())
              .with("before", change.before())
              .with("after", change.after()));
    }
    List<JsonObject> lines = new ArrayList<>();
    for (Line line : lines()) {
      lines.add(
          new JsonObject()
              .with("what", line.what())
              .with("unit", line.unit())
              .with("quantity_before", line.quantityBefore().toPlainString())
              .with("quantity_after", line.quantityAfter().toPlainString())
              .with("before", line.before().amount().toPlainString())
              .with("after", line.after().amount().toPlainString())
              .with("difference", line.difference().amount().toPlainString()));
    }
    return new JsonObject()
        .with("schema_version", 1)
        .with("before", before.name)
        .with("after", after.name)
        .with("currency", before.estimate.text("currency"))
        .with("changes", changes)
        .with(
            "reservation",
            pair(Optional.of(before.total()), Optional.of(after.total()))
                .with("percent", percent().orElse(null))
                .with("of_prices", ofPrices().amount().toPlainString())
                .with("lines", lines))
        .with(
            "expected",
            expectedBefore().isEmpty() ? null : pair(expectedBefore(), expectedAfter()));
  }

  private static JsonObject pair(Optional<Money> before, Optional<Money> after) {
    Money one = before.orElseThrow();
    Money two = after.orElseThrow();
    return new JsonObject()
        .with("before", one.amount().toPlainString())
        .with("after", two.amount().toPlainString())
        .with("difference", two.minus(one).amount().toPlainString());
  }
}
