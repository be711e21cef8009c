package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The prices of an API's tokens in {@link Rates}. A class of its own, because few runs load it. */
final class TokenRates {
  /** The key in the rates of estimate.json. */
  static final String KEY = "api_tokens";

  /** Prices are for 10^6 tokens, so a quantity with 6 decimals is exact. */
  private static final int MILLION_DIGITS = 6;

  private TokenRates() {}

  /**
   * Returns the prices of these models in a book without overrides.
   *
   * @throws NexaException if the book has no price of a model
   */
  static Map<String, TokenPrice> of(PriceBook book, List<String> models) {
    Map<String, TokenPrice> prices = new LinkedHashMap<>();
    for (String model : models) {
      TokenPrice price = book.prices().apiTokens().get(model);
      if (price == null) {
        throw missing(book, model);
      }
      prices.put(model, price);
    }
    return prices;
  }

  /** Returns the error for a model without a price. */
  static NexaException missing(PriceBook book, String model) {
    TreeSet<String> known = new TreeSet<>(book.apiModels());
    String others = known.isEmpty() ? "" : "; it has " + String.join(", ", known);
    return ErrorCode.PRICE_MISSING.error(
        "price book '%s' has no price for the API's model '%s'%s%s"
            .formatted(book.name(), model, Nearest.product(model, known), others),
        ("write into %s, below api_tokens: \"%s\": {input: {price: P,"
                + " source: S}, output: {price: Q, source: S}}. P and Q are the prices of 10^6"
                + " tokens, S says where they come from (`nexa-slurm explain docs/prices.md`)")
            .formatted(book.file(), model));
  }

  /** Returns a line for the tokens that the model reads, and one for those that it writes. */
  static List<CostLine> lines(ApiTokens used, Rates rates) {
    TokenPrice price = rates.apiTokens().get(used.model());
    if (price == null) {
      throw ErrorCode.PRICE_MISSING.error(
          "the rates of price book '%s' have no price for the API's model '%s'"
              .formatted(rates.book(), used.model()),
          "a run that is under way keeps the rates it was estimated with");
    }
    List<CostLine> lines = new ArrayList<>();
    lines.add(line(used.model() + " input", used.input(), price.input(), rates));
    lines.add(line(used.model() + " output", used.output(), price.output(), rates));
    return lines;
  }

  private static CostLine line(String what, BigDecimal tokens, Price price, Rates rates) {
    BigDecimal millions = tokens.movePointLeft(MILLION_DIGITS);
    return rates.line(KEY + ":" + what, millions, "million_tokens", price, MILLION_DIGITS);
  }

  static JsonObject toJson(Map<String, TokenPrice> prices) {
    JsonObject json = new JsonObject();
    for (Map.Entry<String, TokenPrice> price : prices.entrySet()) {
      json.with(
          price.getKey(),
          new JsonObject()
              .with("input", Rates.price(price.getValue().input()))
              .with("output", Rates.price(price.getValue().output())));
    }
    return json;
  }

  static Map<String, TokenPrice> fromJson(JsonObject json) {
    Map<String, TokenPrice> prices = new LinkedHashMap<>();
    for (String model : json.members().keySet()) {
      JsonObject price = json.object(model);
      prices.put(
          model,
          new TokenPrice(Rates.price(price.object("input")), Rates.price(price.object("output"))));
    }
    return prices;
  }
}
