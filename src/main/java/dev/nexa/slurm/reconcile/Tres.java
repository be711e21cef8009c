package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.units.Memory;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What an allocation held, from AllocTRES ({@code
 * billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=8G,node=1}). The untyped {@code gres/gpu} is the
 * total and the typed ones its parts: 2 + 2 is 2 (tres.html).
 *
 * @param gpus all GPUs; empty where the site does not track them, which is not zero
 * @param gpusByType the typed parts
 */
public record Tres(long cpus, long memoryBytes, Optional<Long> gpus, Map<String, Long> gpusByType) {
  private static final String GPU = "gres/gpu";

  /** Reads the list; entries that are no numbers are left out. */
  public static Tres parse(String text) {
    long cpus = 0;
    long memory = 0;
    Optional<Long> total = Optional.empty();
    Map<String, Long> types = new TreeMap<>();
    for (String item : text.split(",", -1)) {
      int equals = item.indexOf('=');
      String name = equals < 0 ? item : item.substring(0, equals);
      String value = equals < 0 ? "" : item.substring(equals + 1);
      if (name.equals("cpu")) {
        cpus = count(value);
      } else if (name.equals("mem")) {
        memory = bytes(value);
      } else if (name.equals(GPU)) {
        total = Optional.of(count(value));
      } else if (name.startsWith(GPU + ":")) {
        types.merge(name.substring(GPU.length() + 1), count(value), Long::sum);
      }
    }
    if (total.isEmpty() && !types.isEmpty()) {
      total = Optional.of(types.values().stream().mapToLong(Long::longValue).sum());
    }
    return new Tres(cpus, memory, total, types);
  }

  /**
   * GPUs by type; those without one, or all that the site did not track, by what the plan asked
   * for.
   */
  public Map<String, Long> gpusBy(String plannedType, long plannedGpus) {
    Map<String, Long> all = new TreeMap<>(gpusByType);
    long typed = gpusByType.values().stream().mapToLong(Long::longValue).sum();
    long rest = gpus.orElse(plannedGpus) - typed;
    if (rest > 0) {
      all.merge(plannedType, rest, Long::sum);
    }
    return all;
  }

  private static long count(String value) {
    return value.matches("\\d{1,18}") ? Long.parseLong(value) : 0;
  }

  /** Slurm prints {@code 8G}, {@code 9000M} and {@code 2.50G}. */
  private static long bytes(String value) {
    if (!value.matches("\\d{1,12}(\\.\\d+)?[KMGTP]?")) {
      return 0;
    }
    boolean suffixed = Character.isLetter(value.charAt(value.length() - 1));
    String number = suffixed ? value.substring(0, value.length() - 1) : value;
    String unit = suffixed ? value.substring(value.length() - 1) : "M";
    long factor =
        unit.equals("P") ? 1L << 50 : unit.equals("K") ? 1L << 10 : Memory.parse("1" + unit);
    return new BigDecimal(number).multiply(BigDecimal.valueOf(factor)).longValue();
  }
}
