package dev.nexa.slurm.units;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * A partition's TRESBillingWeights ({@code CPU=1.0,Mem=0.25G,GRES/gpu=2}), which make Slurm's own
 * figure of what an allocation is worth: {@code billing=} of AllocTRES (slurm.conf(5),
 * assoc_mgr_tres_weighted in src/common/assoc_mgr.c). Without any it is the number of CPUs.
 *
 * @param text as written
 * @param rule how the weighted resources become one number
 * @param weights by TRES in lower case; of memory for one MiB
 */
public record BillingWeights(String text, Rule rule, Map<String, BigDecimal> weights) {
  /** A list of weights, as slurm.conf takes it. */
  public static final String FORM =
      "[A-Za-z][A-Za-z0-9_./:-]*=[0-9]+(\\.[0-9]+)?[KMGTP]?"
          + "(,[A-Za-z][A-Za-z0-9_./:-]*=[0-9]+(\\.[0-9]+)?[KMGTP]?)*";

  private static final BigDecimal ROUNDING = new BigDecimal("0.000001");
  private static final String BILLING = "billing";
  private static final String GPU = "gres/gpu";

  /** slurm.conf's PriorityFlags, as far as they are about billing. */
  public enum Rule {
    /** All weighted resources added up. */
    SUM,
    /** The largest of those of a node, and the others (licenses) on top. */
    MAX_TRES,
    /** The largest of those of a node that are no GRES; GRES and the others on top. */
    MAX_TRES_GRES;

    /** The rule that {@code PriorityFlags} of {@code scontrol show config} mean. */
    public static Rule of(String priorityFlags) {
      Rule rule = SUM;
      for (String flag : priorityFlags.split(",", -1)) {
        String name = flag.strip().toUpperCase(Locale.ROOT);
        rule = name.equals("MAX_TRES") ? MAX_TRES : rule;
        if (name.equals("MAX_TRES_GRES")) {
          return MAX_TRES_GRES;
        }
      }
      return rule;
    }

    /** As a cluster profile writes it. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads {@code TRESBillingWeights=} of {@code scontrol show partition}; empty is none. */
  public static BillingWeights parse(String text) {
    return parse(text, Rule.SUM);
  }

  /** The same under a rule of the cluster's. */
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

  /** Whether they weigh the same, however they are written. */
  public boolean same(BillingWeights other) {
    return positive().equals(other.positive());
  }

  private Map<String, BigDecimal> positive() {
    Map<String, BigDecimal> positive = new LinkedHashMap<>();
    for (Map.Entry<String, BigDecimal> weight : weights.entrySet()) {
      if (weight.getValue().signum() > 0) {
        positive.put(weight.getKey(), weight.getValue().stripTrailingZeros());
      }
    }
    return positive;
  }

  /** Whether GPUs, or the nodes they are in, cost anything: by their weight, zero as well. */
  public boolean speakOfGpus() {
    for (String name : weights.keySet()) {
      if (name.equals("node") || name.equals(GPU) || name.startsWith(GPU + ":")) {
        return true;
      }
    }
    return false;
  }

  /** What Slurm would make of the list: cut to a whole number, as {@code billing=} is. */
  public long units(String allocTres) {
    return units(amounts(allocTres), rule).longValue();
  }

  /**
   * What Slurm would make of these amounts, before it is cut; it is as large for twice as much.
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

  /** Whether only the largest of it and its like counts. */
  private static boolean competes(String name, Rule by) {
    return name.equals("cpu")
        || name.equals("mem")
        || name.equals("node")
        || (by == Rule.MAX_TRES && name.startsWith("gres/"));
  }

  /** Where Slurm billed another figure than these weights make, by whichever rule. */
  public Optional<String> disagreement(String allocTres) {
    OptionalLong told = told(allocTres);
    if (told.isEmpty()) {
      return Optional.empty();
    }
    Map<String, BigDecimal> amounts = amounts(allocTres);
    for (Rule each : Rule.values()) {
      if (isCut(units(amounts, each), told.getAsLong())) {
        return Optional.empty();
      }
    }
    return Optional.of(
        "Slurm billed "
            + told.getAsLong()
            + " for "
            + allocTres
            + ", its weights make "
            + units(amounts, Rule.SUM).longValue());
  }

  /** Slurm adds doubles and cuts: ten times 0.1 may be 0.9999999. */
  private static boolean isCut(BigDecimal units, long told) {
    return units.subtract(ROUNDING).longValue() == told || units.add(ROUNDING).longValue() == told;
  }

  /** GPUs of a type are GPUs also where the list does not say so. */
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
      OptionalLong bytes = SlurmSize.bytes(value, SlurmSize.MIB);
      return BigDecimal.valueOf(bytes.orElse(0))
          .divide(BigDecimal.valueOf(SlurmSize.MIB), 6, RoundingMode.HALF_EVEN);
    }
    return BigDecimal.valueOf(SlurmSize.count(value).orElse(0));
  }
}
