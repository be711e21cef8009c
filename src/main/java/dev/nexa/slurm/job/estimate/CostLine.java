package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * One line of an estimate or a cost file.
 *
 * @param what {@code gpu:TYPE}, {@code shard:TYPE}, the name of a {@link
 *     dev.nexa.slurm.job.config.site.PricedUnit}, {@code api_tokens:MODEL input} or {@code
 *     api_tokens:MODEL output}
 * @param quantity the quantity in units
 * @param unit {@code gpu_hour}, {@code shard_hour}, {@code million_tokens}, or the unit's own
 * @param unitPrice the price of one unit
 * @param source where the price comes from
 * @param amount quantity times price, rounded once
 */
public record CostLine(
    String what,
    BigDecimal quantity,
    String unit,
    BigDecimal unitPrice,
    String source,
    Money amount) {

  /** Returns the sum of the lines before rounding. */
  public static BigDecimal unrounded(List<CostLine> lines) {
    BigDecimal sum = BigDecimal.ZERO;
    for (CostLine line : lines) {
      sum = sum.add(line.quantity.multiply(line.unitPrice));
    }
    return sum;
  }

  /** Returns the lines as estimate.json and the cost file have them. */
  public static List<JsonObject> toJson(List<CostLine> lines) {
    List<JsonObject> json = new ArrayList<>();
    for (CostLine line : lines) {
      json.add(line.toJson());
    }
    return json;
  }

  /** Reads lines in the form of {@link #toJson}. */
  public static List<CostLine> fromJson(List<JsonObject> lines, String currency) {
    List<CostLine> read = new ArrayList<>();
    for (JsonObject line : lines) {
      read.add(
          new CostLine(
              line.text("what"),
              new BigDecimal(line.text("quantity")),
              line.text("unit"),
              new BigDecimal(line.text("unit_price")),
              line.text("source"),
              new Money(new BigDecimal(line.text("amount")), currency)));
    }
    return read;
  }

  private JsonObject toJson() {
    return new JsonObject()
        .with("what", what)
        .with("quantity", quantity.stripTrailingZeros().toPlainString())
        .with("unit", unit)
        .with("unit_price", unitPrice.toPlainString())
        .with("source", source)
        .with("amount", amount.amount().toPlainString());
  }
}
