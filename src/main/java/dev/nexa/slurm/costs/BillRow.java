package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * One row of a bill as it is kept.
 *
 * @param id what tells the row from the provider's others: imported again, it is the same one
 * @param runId the run it is for; empty where the bill names none
 * @param start when the charge began, as RFC 3339 or a date
 * @param what the service, or of API usage the model and the direction
 * @param amount exact, not rounded
 * @param estimated whether the provider may still correct it
 * @param tokens of API usage; empty otherwise
 * @param price for 10^6 tokens and where it is from; of API usage
 */
public record BillRow(
    String id,
    String runId,
    String provider,
    String start,
    String what,
    BigDecimal amount,
    String currency,
    boolean estimated,
    Optional<BigDecimal> tokens,
    Optional<String> price) {

  /** The provider under which API usage is kept. */
  public static final String API = "api";

  BillRow named(String other) {
    return new BillRow(
        other, runId, provider, start, what, amount, currency, estimated, tokens, price);
  }

  boolean isApi() {
    return provider.equals(API);
  }

  /** {@code 2025-11}. */
  String period() {
    return start.substring(0, 7);
  }

  JsonObject toJson() {
    JsonObject json =
        new JsonObject()
            .with("id", id)
            .with("run_id", runId.isEmpty() ? null : runId)
            .with("provider", provider)
            .with("start", start)
            .with("what", what)
            .with("amount", amount.toPlainString())
            .with("currency", currency);
    if (estimated) {
      json.with("estimated", true);
    }
    return json.withOptional("tokens", tokens).withOptional("price", price);
  }

  static BillRow of(JsonObject json) {
    return new BillRow(
        json.text("id"),
        json.optionalText("run_id").orElse(""),
        json.text("provider"),
        json.text("start"),
        json.text("what"),
        new BigDecimal(json.text("amount")),
        json.text("currency"),
        Boolean.TRUE.equals(json.members().get("estimated")),
        json.optionalDecimal("tokens"),
        json.optionalText("price"));
  }
}
