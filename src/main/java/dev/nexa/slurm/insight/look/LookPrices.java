package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Prices of a book for jobs that are known only from accounting. The prices that hold for one
 * partition, account or day are not looked at.
 */
public final class LookPrices {
  /** A MIG slice: so many of the seven compute slices of a GPU (NVIDIA's MIG User Guide). */
  private static final Pattern SLICE = Pattern.compile("(?:^|[^0-9])([1-7])g\\.\\d+gb");

  private static final BigDecimal SLICES = BigDecimal.valueOf(7);

  private final Rates rates;
  private final String otherwise;
  private final Map<String, Type> types = new HashMap<>();
  private final TreeSet<String> assumed = new TreeSet<>();

  /** The meaning of Slurm's name of a GPU: a type of the book, and the share of such a GPU. */
  private record Type(String priced, BigDecimal share) {}

  /**
   * Creates the prices.
   *
   * @param otherwise the GPU type whose price counts for GPUs that the book does not know
   */
  public LookPrices(PriceBook book, String otherwise) {
    PriceBook plain =
        new PriceBook(
            book.name(),
            book.file(),
            book.digest(),
            book.currency(),
            book.asOf(),
            book.prices(),
            book.gpuHourCoversJob(),
            List.of(),
            book.isSkyPilots());
    Optional<String> none = Optional.empty();
    PriceKey any =
        new PriceKey("", none, none, book.asOf(), List.of(), Optional.empty(), none, "", List.of());
    rates = Rates.of(plain, any);
    this.otherwise = otherwise;
  }

  /**
   * Returns the cost of an allocation for so many seconds, not rounded.
   *
   * @throws ArithmeticException if it is more than can be counted
   */
  BigDecimal cost(Map<String, Long> gpus, long cpus, long memoryBytes, long seconds) {
    boolean covered = rates.terms().gpuHourCoversJob() && !gpus.isEmpty();
    BigDecimal cost =
        covered
            ? BigDecimal.ZERO
            : rates.unrounded(rates.usage(Map.of(), cpus, memoryBytes, 1, seconds));
    for (Map.Entry<String, Long> gpu : gpus.entrySet()) {
      Type type = types.computeIfAbsent(gpu.getKey(), this::typeOf);
      if (!type.priced().isEmpty()) {
        Map<String, Long> one = Map.of(type.priced(), gpu.getValue());
        BigDecimal whole = rates.unrounded(rates.usage(one, 0, 0, 1, seconds));
        cost = cost.add(whole.multiply(type.share()));
      }
    }
    return cost;
  }

  /** Reads a name such as {@code nvidia_h100_80gb_hbm3} or {@code a100_1g.5gb}. */
  private Type typeOf(String name) {
    if (rates.gpuHour().containsKey(name)) {
      return new Type(name, BigDecimal.ONE);
    }
    Matcher slice = SLICE.matcher(name);
    BigDecimal share =
        slice.find()
            ? new BigDecimal(slice.group(1)).divide(SLICES, MathContext.DECIMAL64)
            : BigDecimal.ONE;
    Optional<String> known =
        rates.gpuHour().keySet().stream()
            .filter(type -> letters(name).contains(letters(type)))
            .max(Comparator.comparingInt(String::length));
    if (known.isEmpty()) {
      assumed.add(name);
    }
    String priced = known.orElse(rates.gpuHour().containsKey(otherwise) ? otherwise : "");
    return new Type(priced, share);
  }

  private static String letters(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }

  String currency() {
    return rates.currency();
  }

  /** Returns the type whose price counts for the types of {@link #assumed}. */
  String otherwise() {
    return rates.gpuHour().containsKey(otherwise) ? otherwise : "free";
  }

  /** Returns the GPU types that have no price of their own, in alphabetical order. */
  List<String> assumed() {
    return List.copyOf(assumed);
  }
}
