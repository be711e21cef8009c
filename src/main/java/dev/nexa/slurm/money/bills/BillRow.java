package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * One stored row of a bill.
 *
 * @param id identifies the row among the provider's rows; a repeated import gives the same id
 * @param runId the run that it charges; empty if the bill names none
 * @param provider the provider's name
 * @param start the beginning of the charge, as RFC 3339 time or as a date
 * @param what names the service; for API usage, the model and the direction
 * @param amount the exact amount, not rounded
 * @param currency ISO 4217 code
 * @param estimated whether the provider may still correct the amount
 * @param tokens number of tokens, for API usage only
 * @param price price of 10^6 tokens and its source, for API usage only
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

  /** The provider's name of API usage. */
  public static final String API = "api";

  BillRow named(String other) {
    return new BillRow(
        other, runId, provider, start, what, amount, currency, estimated, tokens, price);
  }

  boolean isApi() {
    return provider.equals(API);
  }

  /** Returns the month of the start, such as {@code 2025-11}. */
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
