package dev.nexa.slurm.estimate;

import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
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

/**
 * The prices a run is estimated and settled at; kept with the run, so that a later price book
 * changes neither.
 *
 * @param book the price book's name
 * @param asOf the day its prices were true
 * @param digest SHA-256 of the book
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
    Optional<Price> egressGb) {

  private static final int SECONDS = 3600;
  private static final long GB = 1_000_000_000;
  private static final BigDecimal HOURS_A_MONTH = BigDecimal.valueOf(730);
  private static final BigInteger GIB = BigInteger.ONE.shiftLeft(30);

  public static Rates of(PriceBook book) {
    return new Rates(
        book.name(),
        book.asOf().toString(),
        book.digest(),
        book.currency(),
        book.gpuHour(),
        book.cpuHour(),
        book.memoryGibHour(),
        book.storageGbMonth(),
        book.egressGb());
  }

  /**
   * The priced lines. An unknown GPU price is an error; CPU and memory that the book does not price
   * are free in it.
   */
  public List<CostLine> price(Usage usage) {
    List<CostLine> lines = new ArrayList<>();
    for (Map.Entry<String, Long> gpu : usage.gpuSeconds().entrySet()) {
      if (gpu.getValue() > 0) {
        String type = gpu.getKey();
        lines.add(line("gpu:" + type, hours(gpu.getValue()), "gpu_hour", gpuPrice(type)));
      }
    }
    if (cpuHour.isPresent()) {
      lines.add(line("cpu", hours(usage.cpuSeconds()), "cpu_hour", cpuHour.get()));
    }
    if (memoryGibHour.isPresent()) {
      BigDecimal gibHours = gibHours(usage.memoryByteSeconds());
      lines.add(line("memory", gibHours, "gib_hour", memoryGibHour.get()));
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

  private Price gpuPrice(String type) {
    Price price = gpuHour.get(type);
    if (price == null) {
      throw new NexaException(
          ExitCode.USAGE,
          "price book '"
              + book
              + "' has no price for GPU type '"
              + type
              + "'"
              + Nearest.hint(type, gpuHour.keySet()),
          "for a new run: add gpu_hour." + type + " to configs/prices/" + book + ".yaml",
          "a run that is under way keeps the rates it was estimated with");
    }
    return price;
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
    for (Map.Entry<String, Long> gpu : usage.gpuSeconds().entrySet()) {
      if (gpu.getValue() > 0) {
        sum = sum.add(hours(gpu.getValue()).multiply(gpuPrice(gpu.getKey()).price()));
      }
    }
    if (cpuHour.isPresent()) {
      sum = sum.add(hours(usage.cpuSeconds()).multiply(cpuHour.get().price()));
    }
    if (memoryGibHour.isPresent()) {
      sum = sum.add(gibHours(usage.memoryByteSeconds()).multiply(memoryGibHour.get().price()));
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

  private static BigDecimal gibHours(BigInteger byteSeconds) {
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
        price(json.optionalObject("egress_gb")));
  }

  private static Optional<Price> price(Optional<JsonObject> json) {
    return json.isPresent() ? Optional.of(price(json.get())) : Optional.empty();
  }

  private static JsonObject price(Price price) {
    return new JsonObject()
        .with("price", price.price().toPlainString())
        .with("source", price.source());
  }

  private static Price price(JsonObject json) {
    return new Price(new BigDecimal(json.text("price")), json.text("source"));
  }
}
