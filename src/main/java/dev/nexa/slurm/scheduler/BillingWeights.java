package dev.nexa.slurm.scheduler;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A partition's TRESBillingWeights ({@code CPU=1.0,Mem=0.25G,GRES/gpu=2}), which make Slurm's own
 * figure of what an allocation is worth: {@code billing=} of AllocTRES (slurm.conf(5)). Without any
 * it is the number of CPUs.
 *
 * @param weights by TRES in lower case; of memory for one MiB
 */
public record BillingWeights(Map<String, BigDecimal> weights) {
  private static final String BILLING = "billing";
  private static final BigDecimal ROUNDING = new BigDecimal("0.000001");

  /** Reads {@code TRESBillingWeights=} of {@code scontrol show partition}; empty is none. */
  public static BillingWeights parse(String text) {
    Map<String, BigDecimal> weights = new LinkedHashMap<>();
    for (String item : text.split(",", -1)) {
      String[] part = item.split("=", 2);
      if (part.length == 2 && part[1].matches("\\d+(\\.\\d+)?[KMGTP]?")) {
        weights.put(part[0].toLowerCase(Locale.ROOT), weight(part[1]));
      }
    }
    return new BillingWeights(weights);
  }

  /** A weight of {@code 0.25G} is for each GiB, of {@code 1.0} for each, or for each MiB. */
  private static BigDecimal weight(String text) {
    char unit = text.charAt(text.length() - 1);
    if (Character.isDigit(unit)) {
      return new BigDecimal(text);
    }
    BigDecimal number = new BigDecimal(text.substring(0, text.length() - 1));
    long mib = SlurmSize.bytes("1" + unit, SlurmSize.MIB).orElse(SlurmSize.MIB);
    return number
        .multiply(BigDecimal.valueOf(SlurmSize.MIB))
        .divide(BigDecimal.valueOf(mib), 12, RoundingMode.HALF_EVEN);
  }

  /** {@code billing=} of a TRES list; empty where it has none. */
  public static OptionalLong told(String allocTres) {
    for (String item : allocTres.split(",", -1)) {
      if (item.startsWith(BILLING + "=")) {
        return SlurmSize.count(item.substring(BILLING.length() + 1));
      }
    }
    return OptionalLong.empty();
  }

  /**
   * What Slurm would make of the list: the sum of all weighted TRES, cut to a whole number; with
   * PriorityFlags=MAX_TRES the largest of them.
   */
  public Optional<String> disagreement(String allocTres) {
    OptionalLong told = told(allocTres);
    if (told.isEmpty()) {
      return Optional.empty();
    }
    BigDecimal sum = BigDecimal.ZERO;
    BigDecimal largest = BigDecimal.ZERO;
    for (String item : allocTres.split(",", -1)) {
      String[] part = item.split("=", 2);
      BigDecimal weight = weights.get(part[0].toLowerCase(Locale.ROOT));
      boolean counts = weights.isEmpty() ? part[0].equals("cpu") : weight != null;
      if (part.length == 2 && counts) {
        BigDecimal one =
            amount(part[0], part[1]).multiply(weight == null ? BigDecimal.ONE : weight);
        sum = sum.add(one);
        largest = largest.max(one);
      }
    }
    long ours = sum.longValue();
    return isCut(sum, told.getAsLong()) || isCut(largest, told.getAsLong())
        ? Optional.empty()
        : Optional.of(
            "Slurm billed "
                + told.getAsLong()
                + " for "
                + allocTres
                + ", its weights make "
                + ours);
  }

  /** Slurm adds doubles and cuts: ten times 0.1 may be 0.9999999. */
  private static boolean isCut(BigDecimal sum, long told) {
    return sum.subtract(ROUNDING).longValue() == told || sum.add(ROUNDING).longValue() == told;
  }

  private static BigDecimal amount(String name, String value) {
    if (name.equals("mem")) {
      OptionalLong bytes = SlurmSize.bytes(value, SlurmSize.MIB);
      return BigDecimal.valueOf(bytes.orElse(0))
          .divide(BigDecimal.valueOf(SlurmSize.MIB), 6, RoundingMode.HALF_EVEN);
    }
    return BigDecimal.valueOf(SlurmSize.count(value).orElse(0));
  }
}
