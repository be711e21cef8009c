package dev.nexa.slurm.estimate;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * One line of a bill.
 *
 * @param what {@code gpu:h100}, {@code cpu}, {@code memory}, {@code storage}
 * @param quantity in units
 * @param unit {@code gpu_hour}, {@code cpu_hour}, {@code gib_hour}, {@code gb_month}
 * @param unitPrice for one unit
 * @param source where the price is from
 * @param amount quantity times price, rounded once
 */
public record CostLine(
    String what,
    BigDecimal quantity,
    String unit,
    BigDecimal unitPrice,
    String source,
    Money amount) {

  public static List<JsonObject> toJson(List<CostLine> lines) {
    List<JsonObject> json = new ArrayList<>();
    for (CostLine line : lines) {
      json.add(line.toJson());
    }
    return json;
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
