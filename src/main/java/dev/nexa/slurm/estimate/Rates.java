package dev.nexa.slurm.estimate;

import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Terms.BillingRate;
import dev.nexa.slurm.estimate.Terms.NodeRate;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.BillingWeights;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * The prices a run is estimated and settled at; kept with the run, so that a later price book
 * changes neither. They are flat: cluster, partition, account and day are resolved, and nothing
 * looks into the price book again.
 *
 * @param book the price book's name
 * @param asOf the day its prices were true
 * @param digest SHA-256 of the book
 * @param terms what is charged where that is not simply GPUs, CPUs and memory
 */
public record Rates(
    String book,
    String asOf,
    String digest,
    String currency,
    Map<String, Price> gpuHour,
    Optional<Price> cpuHour,
    Optional<Price> memoryGibHour,
    Optional<Price> storageGbMonth,
    Optional<Price> egressGb,
    Terms terms) {

  private static final int SECONDS = 3600;
  private static final long GB = 1_000_000_000;
  private static final BigDecimal HOURS_A_MONTH = BigDecimal.valueOf(730);
  private static final BigInteger GIB = BigInteger.ONE.shiftLeft(30);
  private static final long MIB = 1 << 20;

  /** Where GPUs, CPUs and memory are charged, each for itself. */
  public Rates(
      String book,
      String asOf,
      String digest,
      String currency,
      Map<String, Price> gpuHour,
      Optional<Price> cpuHour,
      Optional<Price> memoryGibHour,
      Optional<Price> storageGbMonth,
      Optional<Price> egressGb) {
    this(
        book,
        asOf,
        digest,
        currency,
        gpuHour,
        cpuHour,
        memoryGibHour,
        storageGbMonth,
        egressGb,
        Terms.PLAIN);
  }

  /** The prices of the book that hold for such a run. */
  public static Rates of(PriceBook book, PriceKey key) {
    if (!book.entries().isEmpty()) {
      return new PriceChoice(book, key).rates();
    }
    return new Rates(
        book.name(),
        book.asOf().toString(),
        book.digest(),
        book.currency(),
        book.gpuHour(),
        book.cpuHour(),
        book.memoryGibHour(),
        book.storageGbMonth(),
        book.egressGb(),
        book.gpuHourCoversJob()
            ? new Terms(Map.of(), Optional.empty(), Optional.empty(), true)
            : Terms.PLAIN);
  }

  /** What one planned allocation uses in that time, as these rates count it. */
  public Usage usage(
      Map<String, Long> gpus, long cpus, long memoryBytes, long nodes, long seconds) {
    Usage usage = Usage.of(gpus, cpus, memoryBytes, seconds);
    if (terms.partsAreCharged()) {
      // An approval may have pinned rates that count nodes.
      return usage.holding(Map.of(), OptionalLong.of(nodes), OptionalLong.empty(), seconds);
    }
    StringBuilder tres = new StringBuilder("cpu=").append(cpus);
    tres.append(",mem=").append(memoryBytes / MIB).append("M,node=").append(nodes);
    for (Map.Entry<String, Long> gpu : gpus.entrySet()) {
      tres.append(",gres/gpu:").append(gpu.getKey()).append('=').append(gpu.getValue());
    }
    return usage.holding(Map.of(), OptionalLong.of(nodes), billingUnits(tres.toString()), seconds);
  }

  /** Slurm's billing units of an allocation: as it tells them, else by the pinned weights. */
  public OptionalLong billingUnits(String allocTres) {
    if (terms.billingHour().isEmpty()) {
      return OptionalLong.empty();
    }
    OptionalLong told = BillingWeights.told(allocTres);
    return told.isPresent()
        ? told
        : OptionalLong.of(terms.billingHour().get().weights().units(allocTres));
  }

  /** So much of one priced thing. */
  private record Part(String what, BigDecimal quantity, String unit, Price price) {}

  private List<Part> parts(Usage usage) {
    List<Part> parts = new ArrayList<>();
    if (terms.billingHour().isPresent()) {
      BillingRate rate = terms.billingHour().get();
      BigDecimal units =
          usage.billingSeconds().isPresent()
              ? hours(usage.billingSeconds().getAsLong())
              : terms.unitHours(rate, usage);
      parts.add(new Part("billing", units, "billing_hour", rate.price()));
      return parts;
    }
    if (terms.nodeHour().isPresent()) {
      NodeRate rate = terms.nodeHour().get();
      BigDecimal nodes =
          usage.nodeSeconds().isPresent()
              ? hours(usage.nodeSeconds().getAsLong())
              : hours(usage.cpuSeconds())
                  .divide(BigDecimal.valueOf(rate.cpus()), MathContext.DECIMAL128);
      parts.add(new Part("node", nodes, "node_hour", rate.price()));
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
    if (cpuHour.isPresent()) {
      parts.add(new Part("cpu", hours(usage.cpuSeconds()), "cpu_hour", cpuHour.get()));
    }
    if (memoryGibHour.isPresent()) {
      BigDecimal gibHours = gibHours(usage.memoryByteSeconds());
      parts.add(new Part("memory", gibHours, "gib_hour", memoryGibHour.get()));
    }
    return parts;
  }

  /**
   * The priced lines. An unknown GPU price is an error; CPU and memory that the book does not price
   * are free in it.
   */
  public List<CostLine> price(Usage usage) {
    List<CostLine> lines = new ArrayList<>();
    for (Part part : parts(usage)) {
      lines.add(line(part.what(), part.quantity(), part.unit(), part.price()));
    }
    return lines;
  }

  /**
   * What keeping so many bytes for so many days costs; empty where the book does not price it.
   *
   * @param days of 24 hours; a month is 730 hours
   */
  public Optional<CostLine> storage(long bytes, int days) {
    if (storageGbMonth.isEmpty()) {
      return Optional.empty();
    }
    BigDecimal gbMonths =
        BigDecimal.valueOf(bytes)
            .multiply(BigDecimal.valueOf(days * 24L))
            .divide(BigDecimal.valueOf(GB).multiply(HOURS_A_MONTH), MathContext.DECIMAL128);
    return Optional.of(line("storage", gbMonths, "gb_month", storageGbMonth.get()));
  }

  /** What sending so many bytes out costs; empty where the book does not price it. */
  public Optional<CostLine> egress(BigDecimal bytes) {
    return egressGb.isEmpty()
        ? Optional.empty()
        : Optional.of(
            line(
                "egress",
                bytes.divide(BigDecimal.valueOf(GB), MathContext.DECIMAL128),
                "gb",
                egressGb.get()));
  }

  /** The price of the type, also where only upper and lower case differ. */
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
    throw new NexaException(
        ExitCode.USAGE,
        "price book '"
            + book
            + "' has no price for "
            + what
            + " '"
            + type
            + "'"
            // No nearest name: a slip would be charged as another GPU.
            + (prices.isEmpty()
                ? ""
                : "; it has " + String.join(", ", new TreeSet<>(prices.keySet()))),
        "for a new run: add " + key + "." + type + " to configs/prices/" + book + ".yaml",
        "a run that is under way keeps the rates it was estimated with");
  }

  private CostLine line(String what, BigDecimal quantity, String unit, Price price) {
    Money amount = Money.line(quantity, price.price(), currency);
    return new CostLine(
        what,
        quantity.setScale(4, RoundingMode.HALF_EVEN),
        unit,
        price.price(),
        price.source(),
        amount);
  }

  /** What the usage costs before any rounding: parts of it add up to the whole's. */
  public BigDecimal unrounded(Usage usage) {
    BigDecimal sum = BigDecimal.ZERO;
    for (Part part : parts(usage)) {
      sum = sum.add(part.quantity().multiply(part.price().price()));
    }
    return sum;
  }

  /** The sum of rounded lines. */
  public Money total(List<CostLine> lines) {
    Money total = Money.zero(currency);
    for (CostLine line : lines) {
      total = total.plus(line.amount());
    }
    return total;
  }

  static BigDecimal hours(long seconds) {
    return BigDecimal.valueOf(seconds).divide(BigDecimal.valueOf(SECONDS), MathContext.DECIMAL128);
  }

  static BigDecimal gibHours(BigInteger byteSeconds) {
    return new BigDecimal(byteSeconds)
        .divide(new BigDecimal(GIB.multiply(BigInteger.valueOf(SECONDS))), MathContext.DECIMAL128);
  }

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
    json.with("cpu_hour", cpuHour.isPresent() ? price(cpuHour.get()) : null);
    json.with("memory_gib_hour", memoryGibHour.isPresent() ? price(memoryGibHour.get()) : null);
    if (storageGbMonth.isPresent()) {
      json.with("storage_gb_month", price(storageGbMonth.get()));
    }
    if (egressGb.isPresent()) {
      json.with("egress_gb", price(egressGb.get()));
    }
    terms.into(json);
    return json;
  }

  public static Rates fromJson(JsonObject json) {
    Map<String, Price> gpus = new LinkedHashMap<>();
    JsonObject byType = json.object("gpu_hour");
    for (String type : byType.members().keySet()) {
      gpus.put(type, price(byType.object(type)));
    }
    return new Rates(
        json.text("book"),
        json.text("as_of"),
        json.text("digest"),
        json.text("currency"),
        gpus,
        price(json.optionalObject("cpu_hour")),
        price(json.optionalObject("memory_gib_hour")),
        price(json.optionalObject("storage_gb_month")),
        price(json.optionalObject("egress_gb")),
        Terms.from(json));
  }

  private static Optional<Price> price(Optional<JsonObject> json) {
    return json.isPresent() ? Optional.of(price(json.get())) : Optional.empty();
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
