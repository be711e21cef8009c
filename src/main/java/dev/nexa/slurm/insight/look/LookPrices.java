package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Prices of a book for jobs of which only accounting is known. The prices that hold for one
 * partition, account or day are not looked at.
 */
public final class LookPrices {
  private final Rates rates;
  private final String otherwise;
  private final Map<String, String> types = new HashMap<>();
  private final TreeSet<String> assumed = new TreeSet<>();

  /**
   * Creates the prices.
   *
   * @param otherwise the GPU type whose price counts for GPUs that the book does not know
   */
  public LookPrices(PriceBook book, String otherwise) {
    PriceBook plain =
        new PriceBook(
            book.name(),
            book.digest(),
            book.currency(),
            book.asOf(),
            book.prices(),
            book.gpuHourCoversJob(),
            List.of(),
            book.isSkyPilots());
    Optional<String> none = Optional.empty();
    rates =
        Rates.of(
            plain,
            new PriceKey("", none, none, book.asOf(), List.of(), Optional.empty(), none, ""));
    this.otherwise = otherwise;
  }

  /** Returns the cost of an allocation for so many seconds, not rounded. */
  BigDecimal cost(Map<String, Long> gpus, long cpus, long memoryBytes, long seconds) {
    Map<String, Long> priced = new TreeMap<>();
    gpus.forEach(
        (name, count) -> {
          String type = types.computeIfAbsent(name, this::typeOf);
          if (!type.isEmpty()) {
            priced.merge(type, count, Long::sum);
          }
        });
    return rates.unrounded(rates.usage(priced, cpus, memoryBytes, 1, seconds));
  }

  /** Returns the book's type of a name such as {@code nvidia_h100_80gb_hbm3}; empty for none. */
  private String typeOf(String name) {
    Optional<String> known =
        rates.gpuHour().keySet().stream()
            .filter(type -> letters(name).contains(letters(type)))
            .max(Comparator.comparingInt(String::length));
    if (known.isEmpty()) {
      assumed.add(name);
    }
    return known.orElse(rates.gpuHour().containsKey(otherwise) ? otherwise : "");
  }

  private static String letters(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  String currency() {
    return rates.currency();
  }

  /** Returns the GPU types that have no price of their own, in alphabetical order. */
  List<String> assumed() {
    return List.copyOf(assumed);
  }
}
