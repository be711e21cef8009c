package dev.nexa.slurm.base.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A partition's TRESBillingWeights ({@code CPU=1.0,Mem=0.25G,GRES/gpu=2}).
 *
 * <p>Slurm computes an allocation's billing units from them, which it reports as {@code billing=}
 * in AllocTRES (slurm.conf(5); assoc_mgr_tres_weighted in src/common/assoc_mgr.c). A partition
 * without weights bills the number of CPUs.
 *
 * @param text the weights as written
 * @param rule how Slurm combines the weighted resources into one number
 * @param weights by TRES name in lower case; the weight of memory is per MiB
 */
public record BillingWeights(String text, Rule rule, Map<String, BigDecimal> weights) {
  /** Pattern of a list of weights in slurm.conf's syntax. */
  public static final String FORM =
      "[A-Za-z][A-Za-z0-9_./:-]*=[0-9]+(\\.[0-9]+)?[KMGTP]?"
          + "(,[A-Za-z][A-Za-z0-9_./:-]*=[0-9]+(\\.[0-9]+)?[KMGTP]?)*";

  private static final BigDecimal ROUNDING = new BigDecimal("0.000001");
  private static final String BILLING = "billing";
  private static final String GPU = "gres/gpu";

  /**
   * The rule that combines weighted resources: the values of PriorityFlags in slurm.conf that
   * affect billing.
   */
  public enum Rule {
    /** The sum of all weighted resources. The default. */
    SUM,
    /** The largest weighted resource of a node, plus the sum of the global ones (licenses). */
    MAX_TRES,
    /**
     * The largest weighted resource of a node that is not a GRES, plus the sum of the GRES and of
     * the global ones.
     */
    MAX_TRES_GRES;

    /** Returns the rule that {@code PriorityFlags} of {@code scontrol show config} selects. */
    public static Rule of(String priorityFlags) {
      List<String> flags =
          Stream.of(priorityFlags.toUpperCase(Locale.ROOT).split(",", -1))
              .map(String::strip)
              .toList();
      Rule other = flags.contains("MAX_TRES") ? MAX_TRES : SUM;
      return flags.contains("MAX_TRES_GRES") ? MAX_TRES_GRES : other;
    }

    /** Returns the rule's name in a cluster profile. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Parses {@code TRESBillingWeights=} of {@code scontrol show partition} with {@link Rule#SUM}.
   * Empty text gives no weights.
   */
  public static BillingWeights parse(String text) {
    return parse(text, Rule.SUM);
  }

  /** Parses weights with the cluster's rule. Skips items that are not weights. */
  public static BillingWeights parse(String text, Rule rule) {
    Map<String, BigDecimal> weights = new LinkedHashMap<>();
    for (String item : text.split(",", -1)) {
      if (Pattern.matches(FORM, item)) {
        String[] part = item.split("=", 2);
        weights.put(part[0].toLowerCase(Locale.ROOT), weight(part[1]));
      }
    }
    return new BillingWeights(text, rule, weights);
  }

  /**
   * Parses one weight. A weight with a suffix applies to that unit ({@code 0.25G} is per GiB);
   * without one it applies to each, or to each MiB of memory.
   */
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

  /** Returns {@code billing=} of a TRES list; empty if the list has none. */
  public static OptionalLong told(String allocTres) {
    return SlurmSize.count(SlurmSize.item(allocTres, BILLING));
  }

  /**
   * Returns whether two lists have equal weights, whatever their spelling. A weight of zero equals
   * no weight.
   */
  public boolean same(BillingWeights other) {
    return positive().equals(other.positive());
  }

  private Map<String, BigDecimal> positive() {
    Map<String, BigDecimal> positive = new LinkedHashMap<>(weights);
    positive.values().removeIf(weight -> weight.signum() <= 0);
    positive.replaceAll((name, weight) -> weight.stripTrailingZeros());
    return positive;
  }

  /** Returns whether the list has a weight for GPUs or nodes. A weight of zero counts too. */
  public boolean speakOfGpus() {
    return weights.keySet().stream()
        .anyMatch(name -> name.equals("node") || name.equals(GPU) || name.startsWith(GPU + ":"));
  }

  /**
   * Returns the billing units of a TRES list, truncated to a whole number as Slurm truncates {@code
   * billing=}.
   */
  public long units(String allocTres) {
    return units(amounts(allocTres), rule).longValue();
  }

  /**
   * Returns the billing units of these amounts, not truncated. Twice the amounts give twice the
   * units.
   *
   * @param amounts by TRES in lower case ({@code cpu}, {@code mem} in MiB, {@code gres/gpu})
   */
  public BigDecimal units(Map<String, BigDecimal> amounts) {
    return units(amounts, rule);
  }

  private BigDecimal units(Map<String, BigDecimal> amounts, Rule by) {
    if (weights.isEmpty()) {
      return amounts.getOrDefault("cpu", BigDecimal.ZERO);
    }
    BigDecimal largest = BigDecimal.ZERO;
    BigDecimal sum = BigDecimal.ZERO;
    for (Map.Entry<String, BigDecimal> weight : weights.entrySet()) {
      String name = weight.getKey();
      BigDecimal one = amounts.getOrDefault(name, BigDecimal.ZERO).multiply(weight.getValue());
      if (by != Rule.SUM && competes(name, by)) {
        largest = largest.max(one);
      } else if (!name.equals(BILLING)) {
        sum = sum.add(one);
      }
    }
    return sum.add(largest);
  }

  /** Returns whether a resource counts only if it is the largest of its node's. */
  private static boolean competes(String name, Rule by) {
    return name.equals("cpu")
        || name.equals("mem")
        || name.equals("node")
        || (by == Rule.MAX_TRES && name.startsWith("gres/"));
  }

  /**
   * Describes a difference between {@code billing=} of a TRES list and these weights.
   *
   * @return empty if the list has no {@code billing=}, or if one of the three rules gives its value
   */
  public Optional<String> disagreement(String allocTres) {
    OptionalLong told = told(allocTres);
    if (told.isEmpty()) {
      return Optional.empty();
    }
    Map<String, BigDecimal> amounts = amounts(allocTres);
    long billed = told.getAsLong();
    if (Stream.of(Rule.values()).anyMatch(each -> isCut(units(amounts, each), billed))) {
      return Optional.empty();
    }
    return Optional.of(
        "Slurm billed %s for %s, its weights make %s"
            .formatted(billed, allocTres, units(amounts, Rule.SUM).longValue()));
  }

  /**
   * Allows for Slurm's rounding: it adds doubles and truncates, so ten times 0.1 may be 0.9999999.
   */
  private static boolean isCut(BigDecimal units, long told) {
    return units.subtract(ROUNDING).longValue() == told || units.add(ROUNDING).longValue() == told;
  }

  /** Parses a TRES list. If it has no {@code gres/gpu}, the typed GPUs add up to it. */
  private static Map<String, BigDecimal> amounts(String allocTres) {
    Map<String, BigDecimal> amounts = new LinkedHashMap<>();
    BigDecimal typed = BigDecimal.ZERO;
    for (String item : allocTres.split(",", -1)) {
      String[] part = item.split("=", 2);
      if (part.length == 2) {
        String name = part[0].toLowerCase(Locale.ROOT);
        BigDecimal amount = amount(name, part[1]);
        amounts.put(name, amount);
        typed = name.startsWith(GPU + ":") ? typed.add(amount) : typed;
      }
    }
    amounts.putIfAbsent(GPU, typed);
    return amounts;
  }

  private static BigDecimal amount(String name, String value) {
    if (name.equals("mem")) {
      return BigDecimal.valueOf(SlurmSize.bytes(value, SlurmSize.MIB).orElse(0))
          .divide(BigDecimal.valueOf(SlurmSize.MIB), 6, RoundingMode.HALF_EVEN);
    }
    return BigDecimal.valueOf(SlurmSize.count(value).orElse(0));
  }
}
