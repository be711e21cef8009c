package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;

import dev.nexa.slurm.config.Shape.Section;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What things cost, as configs/prices/NAME.yaml says. A price that is not there is unknown, never
 * zero.
 *
 * @param name the file's name without its ending
 * @param digest SHA-256 of the file's bytes: which prices were meant
 * @param currency ISO 4217 code
 * @param asOf the day the prices were true
 * @param gpuHour by GPU type, for one GPU for 3600 s
 * @param cpuHour for one CPU for 3600 s
 * @param memoryGibHour for one GiB for 3600 s
 * @param apiTokens by model, for 10^6 tokens of an API
 */
public record PriceBook(
    String name,
    String digest,
    String currency,
    LocalDate asOf,
    Map<String, Price> gpuHour,
    Optional<Price> cpuHour,
    Optional<Price> memoryGibHour,
    Optional<Price> storageGbMonth,
    Optional<Price> egressGb,
    Map<String, TokenPrice> apiTokens) {

  /** One price and where it is from. */
  public record Price(BigDecimal price, String source) {}

  /** What 10^6 tokens cost that go in, and that come out. */
  public record TokenPrice(Price input, Price output) {}

  private static final Section PRICE =
      section(
          required("price", ValueType.MONEY, "Amount for one unit."),
          required(
              "source",
              ValueType.TEXT,
              "Where the price is from: a list, a contract, a page with its date."));

  static final Section SPEC =
      section(
          required(
              "currency",
              ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
              "Currency of all prices."),
          required("as_of", ValueType.DATE, "The day the prices were true."),
          optional(
              "gpu_hour", mapOf(ValueType.NAME_WORD, PRICE), "By GPU type: one GPU for one hour."),
          optional("cpu_hour", PRICE, "One CPU for one hour."),
          optional("memory_gib_hour", PRICE, "One GiB of memory for one hour."),
          optional("storage_gb_month", PRICE, "10^9 bytes kept for 730 hours."),
          optional("egress_gb", PRICE, "10^9 bytes sent out."),
          optional(
              "api_tokens",
              mapOf(
                  ValueType.text(
                      "a model's name as its API has it", "[A-Za-z0-9][A-Za-z0-9._:/@-]{0,126}"),
                  section(
                      required("input", PRICE, "10^6 tokens that the model reads."),
                      required("output", PRICE, "10^6 tokens that it writes."))),
              "By model of an API, such as a teacher: what tokens cost."));

  static PriceBook from(String name, String digest, Values values) {
    Map<String, Price> gpus = new LinkedHashMap<>();
    Values gpuHour = values.section("gpu_hour");
    for (String type : gpuHour.names()) {
      gpus.put(type, price(gpuHour.section(type)));
    }
    return new PriceBook(
        name,
        digest,
        values.text("currency"),
        values.required("as_of", LocalDate.class),
        gpus,
        optionalPrice(values, "cpu_hour"),
        optionalPrice(values, "memory_gib_hour"),
        optionalPrice(values, "storage_gb_month"),
        optionalPrice(values, "egress_gb"),
        apiTokens(values.section("api_tokens")));
  }

  private static Map<String, TokenPrice> apiTokens(Values values) {
    Map<String, TokenPrice> prices = new LinkedHashMap<>();
    for (String model : values.names()) {
      Values one = values.section(model);
      prices.put(model, new TokenPrice(price(one.section("input")), price(one.section("output"))));
    }
    return prices;
  }

  private static Optional<Price> optionalPrice(Values values, String key) {
    return values.has(key) ? Optional.of(price(values.section(key))) : Optional.empty();
  }

  private static Price price(Values values) {
    return new Price(values.decimal("price"), values.text("source"));
  }
}
