package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.config.site.Prices;
import dev.nexa.slurm.job.estimate.BillingMode.BillingRate;
import dev.nexa.slurm.job.estimate.BillingMode.NodeRate;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * The prices for the estimate and the settlement of a run.
 *
 * <p>The run keeps them, so a later price book changes neither its estimate nor its cost. Cluster,
 * partition, account and day are already resolved.
 *
 * @param book the price book's name
 * @param asOf the day when its prices were valid
 * @param digest SHA-256 of the book
 * @param currency ISO 4217 code
 * @param gpuHour price of one GPU for 3600 s, by GPU type
 * @param units prices of {@link PricedUnit#OF_RUNS}; a unit without a price is free
 * @param terms the units that are charged
 * @param apiTokens prices of 10^6 tokens, for the models that the run uses
 */
public record Rates(
    String book,
    String asOf,
    String digest,
    String currency,
    Map<String, Price> gpuHour,
    Map<PricedUnit, Price> units,
    BillingMode terms,
    Map<String, TokenPrice> apiTokens) {

  private static final int SECONDS = 3600;
  private static final long GB = 1_000_000_000;
  private static final BigDecimal HOURS_A_MONTH = BigDecimal.valueOf(730);
  private static final BigInteger GIB = BigInteger.ONE.shiftLeft(30);
  private static final long MIB = 1 << 20;

  /**
   * Returns the book's prices that apply to a run.
   *
   * @throws NexaException if a GPU type has a price on another day only, or if the book has no
   *     price of an API's model that the run uses. Also if the partition or its billing weights are
   *     needed and unknown
   */
  public static Rates of(PriceBook book, PriceKey key) {
    if (!book.entries().isEmpty()) {
      return new PriceChoice(book, key).rates();
    }
    return new Rates(
        book.name(),
        book.asOf().toString(),
        book.digest(),
        book.currency(),
        book.prices().gpuHour(),
        ofRuns(book.prices()),
        book.gpuHourCoversJob()
            ? new BillingMode(Map.of(), Optional.empty(), Optional.empty(), true)
            : BillingMode.PLAIN,
        key.apiModels().isEmpty() ? Map.of() : TokenRates.of(book, key.apiModels()));
  }

  private static Map<PricedUnit, Price> ofRuns(Prices prices) {
    Map<PricedUnit, Price> units = new EnumMap<>(PricedUnit.class);
    for (PricedUnit unit : PricedUnit.OF_RUNS) {
      prices.of(unit).ifPresent(price -> units.put(unit, price));
    }
    return units;
  }

  /**
   * Returns the usage of one planned allocation, in the units that these rates charge.
   *
   * @param memoryBytes memory of all nodes
   */
  public Usage usage(
      Map<String, Long> gpus, long cpus, long memoryBytes, long nodes, long seconds) {
    Usage usage = Usage.of(gpus, cpus, memoryBytes, seconds);
    if (terms.partsAreCharged()) {
      // The rates of an approval may charge nodes.
      return usage.holding(Map.of(), OptionalLong.of(nodes), OptionalLong.empty(), seconds);
    }
    StringBuilder tres = new StringBuilder("cpu=").append(cpus);
    tres.append(",mem=").append(memoryBytes / MIB).append("M,node=").append(nodes);
    for (Map.Entry<String, Long> gpu : gpus.entrySet()) {
      tres.append(",gres/gpu:").append(gpu.getKey()).append('=').append(gpu.getValue());
    }
    return usage.holding(Map.of(), OptionalLong.of(nodes), billingUnits(tres.toString()), seconds);
  }

  /**
   * Returns the billing units of an allocation: Slurm's own figure, else by the recorded weights;
   * empty if these rates do not charge billing units.
   */
  public OptionalLong billingUnits(String allocTres) {
    if (terms.billingHour().isEmpty()) {
      return OptionalLong.empty();
    }
    OptionalLong told = BillingWeights.told(allocTres);
    return told.isPresent()
        ? told
        : OptionalLong.of(terms.billingHour().get().weights().units(allocTres));
  }

  /** A quantity of one priced item. */
  private record Part(String what, BigDecimal quantity, String unit, Price price) {}

  private List<Part> parts(Usage usage) {
    List<Part> parts = new ArrayList<>();
    if (terms.billingHour().isPresent()) {
      BillingRate rate = terms.billingHour().get();
      BigDecimal hours =
          usage.billingSeconds().isPresent()
              ? hours(usage.billingSeconds().getAsLong())
              : terms.unitHours(rate, usage);
      parts.add(
          new Part(PricedUnit.BILLING.what(), hours, PricedUnit.BILLING.unit(), rate.price()));
      return parts;
    }
    if (terms.nodeHour().isPresent()) {
      NodeRate rate = terms.nodeHour().get();
      BigDecimal nodes =
          usage.nodeSeconds().isPresent()
              ? hours(usage.nodeSeconds().getAsLong())
              : hours(usage.cpuSeconds())
                  .divide(BigDecimal.valueOf(rate.cpus()), MathContext.DECIMAL128);
      parts.add(new Part(PricedUnit.NODE.what(), nodes, PricedUnit.NODE.unit(), rate.price()));
      return parts;
    }
    boolean gpus = false;
    for (Map.Entry<String, Long> gpu : usage.gpuSeconds().entrySet()) {
      if (gpu.getValue() > 0) {
        String type = gpu.getKey();
        Price price = price("gpu_hour", "GPU type", type, gpuHour);
        parts.add(new Part("gpu:" + type, hours(gpu.getValue()), "gpu_hour", price));
        gpus = true;
      }
    }
    for (Map.Entry<String, Long> shard : usage.shardSeconds().entrySet()) {
      if (shard.getValue() > 0) {
        String type = shard.getKey();
        Price price = price("shard_hour", "a shard of GPU type", type, terms.shardHour());
        parts.add(new Part("shard:" + type, hours(shard.getValue()), "shard_hour", price));
        gpus = true;
      }
    }
    if (gpus && terms.gpuHourCoversJob()) {
      return parts;
    }
    part(PricedUnit.CPU, hours(usage.cpuSeconds()), parts);
    part(PricedUnit.MEMORY, gibHours(usage.memoryByteSeconds()), parts);
    return parts;
  }

  private void part(PricedUnit unit, BigDecimal quantity, List<Part> parts) {
    Price price = units.get(unit);
    if (price != null) {
      parts.add(new Part(unit.what(), quantity, unit.unit(), price));
    }
  }

  /**
   * Returns the priced lines of a usage. CPUs and memory without a price are free.
   *
   * @throws NexaException if a GPU type has no price
   */
  public List<CostLine> price(Usage usage) {
    List<CostLine> lines = new ArrayList<>();
    for (Part part : parts(usage)) {
      lines.add(line(part.what(), part.quantity(), part.unit(), part.price()));
    }
    return lines;
  }

  /**
   * Returns the cost of keeping data; empty if the book has no price for storage.
   *
   * @param days days of 24 hours; a month has 730 hours
   */
  public Optional<CostLine> storage(long bytes, int days) {
    BigDecimal gbMonths =
        BigDecimal.valueOf(bytes)
            .multiply(BigDecimal.valueOf(days * 24L))
            .divide(BigDecimal.valueOf(GB).multiply(HOURS_A_MONTH), MathContext.DECIMAL128);
    return line(PricedUnit.STORAGE, gbMonths);
  }

  /** Returns the cost of sending data out; empty if the book has no price for it. */
  public Optional<CostLine> egress(BigDecimal bytes) {
    return line(PricedUnit.EGRESS, bytes.divide(BigDecimal.valueOf(GB), MathContext.DECIMAL128));
  }

  /** Returns the cost of a quantity of a unit; empty if the book has no price for it. */
  public Optional<CostLine> line(PricedUnit unit, BigDecimal quantity) {
    return Optional.ofNullable(units.get(unit))
        .map(price -> line(unit.what(), quantity, unit.unit(), price));
  }

  /**
   * Returns the cost of an API's tokens: a line for the tokens that the model reads, and a line for
   * those that it writes.
   *
   * @throws NexaException if these rates have no price of the model
   */
  public List<CostLine> tokens(ApiTokens used) {
    return TokenRates.lines(used, this);
  }

  /** Returns the price of a GPU type, ignoring case. */
  private Price price(String key, String what, String type, Map<String, Price> prices) {
    Price price = prices.get(type);
    if (price != null) {
      return price;
    }
    for (Map.Entry<String, Price> other : prices.entrySet()) {
      if (other.getKey().equalsIgnoreCase(type)) {
        return other.getValue();
      }
    }
    throw ErrorCode.PRICE_MISSING.error(
        "price book '%s' has no price for %s '%s'%s%s"
            .formatted(
                book,
                what,
                type,
                Nearest.product(type, new TreeSet<>(prices.keySet())),
                prices.isEmpty()
                    ? ""
                    : "; it has " + String.join(", ", new TreeSet<>(prices.keySet()))),
        "for a new run: add " + key + "." + type + " to configs/prices/" + book + ".yaml",
        "a run that is under way keeps the rates it was estimated with");
  }

  private CostLine line(String what, BigDecimal quantity, String unit, Price price) {
    return line(what, quantity, unit, price, 4);
  }

  CostLine line(String what, BigDecimal quantity, String unit, Price price, int decimals) {
    Money amount = Money.line(quantity, price.price(), currency);
    return new CostLine(
        what,
        quantity.setScale(decimals, RoundingMode.HALF_EVEN),
        unit,
        price.price(),
        price.source(),
        amount);
  }

  /** Returns the cost of a usage before rounding. The costs of its parts add up to it. */
  public BigDecimal unrounded(Usage usage) {
    BigDecimal sum = BigDecimal.ZERO;
    for (Part part : parts(usage)) {
      sum = sum.add(part.quantity().multiply(part.price().price()));
    }
    return sum;
  }

  /** Returns the sum of the rounded lines. */
  public Money total(List<CostLine> lines) {
    Money total = Money.zero(currency);
    for (CostLine line : lines) {
      total = total.plus(line.amount());
    }
    return total;
  }

  /** Returns seconds as hours, not rounded to decimals. */
  static BigDecimal hours(long seconds) {
    return BigDecimal.valueOf(seconds).divide(BigDecimal.valueOf(SECONDS), MathContext.DECIMAL128);
  }

  /** Returns byte-seconds as GiB-hours. */
  static BigDecimal gibHours(BigInteger byteSeconds) {
    return new BigDecimal(byteSeconds)
        .divide(new BigDecimal(GIB.multiply(BigInteger.valueOf(SECONDS))), MathContext.DECIMAL128);
  }

  /** Returns the rates as estimate.json has them. */
  public JsonObject toJson() {
    JsonObject gpus = new JsonObject();
    for (Map.Entry<String, Price> gpu : gpuHour.entrySet()) {
      gpus.with(gpu.getKey(), price(gpu.getValue()));
    }
    JsonObject json = new JsonObject();
    json.with("book", book)
        .with("as_of", asOf)
        .with("digest", digest)
        .with("currency", currency)
        .with("gpu_hour", gpus);
    for (PricedUnit unit : PricedUnit.OF_RUNS) {
      Price price = units.get(unit);
      if (price != null || unit.isPart()) {
        json.with(unit.key(), price == null ? null : price(price));
      }
    }
    terms.into(json);
    if (!apiTokens.isEmpty()) {
      json.with(TokenRates.KEY, TokenRates.toJson(apiTokens));
    }
    return json;
  }

  /** Reads rates from the form of {@link #toJson}. */
  public static Rates fromJson(JsonObject json) {
    Map<String, Price> gpus = new LinkedHashMap<>();
    Optional<JsonObject> tokens = json.optionalObject(TokenRates.KEY);
    JsonObject byType = json.object("gpu_hour");
    for (String type : byType.members().keySet()) {
      gpus.put(type, price(byType.object(type)));
    }
    Map<PricedUnit, Price> units = new EnumMap<>(PricedUnit.class);
    for (PricedUnit unit : PricedUnit.OF_RUNS) {
      json.optionalObject(unit.key()).ifPresent(price -> units.put(unit, price(price)));
    }
    return new Rates(
        json.text("book"),
        json.text("as_of"),
        json.text("digest"),
        json.text("currency"),
        gpus,
        units,
        BillingMode.from(json),
        tokens.isPresent() ? TokenRates.fromJson(tokens.get()) : Map.of());
  }

  static JsonObject price(Price price) {
    return new JsonObject()
        .with("price", price.price().toPlainString())
        .with("source", price.source());
  }

  static Price price(JsonObject json) {
    return new Price(Money.price(json.text("price")), json.text("source"));
  }
}
