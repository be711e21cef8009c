package dev.nexa.slurm.run.results;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The metrics that costs depend on. Immutable; reads no file.
 *
 * <p>A number may have any form that JSON and programs write: {@code 1000000000}, {@code 1e9},
 * {@code 1000000000.0} or {@code "1000000000"}. Any other value is reported as a problem, and its
 * quantity counts as not measured.
 *
 * @param egressBytes for each task, the bytes that it sent out of the cluster
 * @param gpuUtilization for each task, the share of the time that its GPUs worked, from 0 to 1
 * @param unread a sentence for each value that does not count
 * @param broken the tasks whose metrics file cannot be read
 * @param notMeasured the parts of the cost file's breakdown that are not measured because of unread
 *     values or broken files, sorted
 */
public record ChargedMetrics(
    Map<Integer, BigDecimal> egressBytes,
    Map<Integer, BigDecimal> gpuUtilization,
    List<String> unread,
    List<Integer> broken,
    List<String> notMeasured) {
  static final String GPU_UTILIZATION = "gpu_utilization";
  private static final BigDecimal MOST_BYTES = BigDecimal.valueOf(Long.MAX_VALUE);

  /** A longer text is not a number that a program wrote, and would take long to parse. */
  private static final int MOST_DIGITS = 64;

  /** A metric that costs depend on. */
  private enum Metric {
    EGRESS(
        "egress_bytes",
        "egress_gb",
        "a whole number of bytes from 0 to " + MOST_BYTES,
        "the cost does not hold what the task sent out"),
    UTILIZATION(
        GPU_UTILIZATION,
        "idle_gpus",
        "a number from 0 to 1",
        "the waste does not hold the task's idle GPUs");

    private final String key;
    private final String part;
    private final String expected;
    private final String effect;

    Metric(String key, String part, String expected, String effect) {
      this.key = key;
      this.part = part;
      this.expected = expected;
      this.effect = effect;
    }

    private boolean takes(BigDecimal number) {
      return number.signum() >= 0
          && (this == EGRESS
              ? number.compareTo(MOST_BYTES) <= 0 && number.stripTrailingZeros().scale() <= 0
              : number.compareTo(BigDecimal.ONE) <= 0);
    }

    private BigDecimal plain(BigDecimal number) {
      return this == EGRESS ? number.setScale(0) : number;
    }
  }

  /**
   * Reads the metrics of each task.
   *
   * @param byTask each task's metrics as the task wrote them
   * @param broken the tasks whose metrics file cannot be read
   */
  public static ChargedMetrics of(Map<Integer, JsonObject> byTask, TreeSet<Integer> broken) {
    List<String> unread = new ArrayList<>();
    TreeSet<String> notMeasured = new TreeSet<>();
    Map<Integer, BigDecimal> egress = values(Metric.EGRESS, byTask, unread, notMeasured);
    Map<Integer, BigDecimal> used = values(Metric.UTILIZATION, byTask, unread, notMeasured);
    if (!broken.isEmpty()) {
      notMeasured.add(Metric.EGRESS.part);
    }
    return new ChargedMetrics(egress, used, unread, List.copyOf(broken), List.copyOf(notMeasured));
  }

  private static Map<Integer, BigDecimal> values(
      Metric metric,
      Map<Integer, JsonObject> byTask,
      List<String> unread,
      TreeSet<String> notMeasured) {
    Map<Integer, BigDecimal> values = new TreeMap<>();
    for (Map.Entry<Integer, JsonObject> task : byTask.entrySet()) {
      Object written = task.getValue().members().get(metric.key);
      if (written == null) {
        continue;
      }
      Optional<BigDecimal> number = number(written).filter(metric::takes);
      if (number.isPresent()) {
        values.put(task.getKey(), metric.plain(number.get()));
      } else {
        notMeasured.add(metric.part);
        unread.add(sentence(task.getKey(), metric, written));
      }
    }
    return values;
  }

  private static String sentence(int task, Metric metric, Object written) {
    String value = Json.compact(written);
    return "task %s: %s: expected %s, got %s: %s"
        .formatted(
            task,
            metric.key,
            metric.expected,
            value.length() <= MOST_DIGITS ? value : value.substring(0, MOST_DIGITS) + "...",
            metric.effect);
  }

  /** Parses a whole number from 0 to 2^63 - 1, in any form of {@link #number}. */
  public static Optional<BigDecimal> count(Object written) {
    return number(written).filter(Metric.EGRESS::takes).map(number -> number.setScale(0));
  }

  /** Parses a JSON number, or a string with a number and blanks around it. */
  private static Optional<BigDecimal> number(Object written) {
    if (written instanceof BigDecimal number) {
      return Optional.of(number);
    }
    if (written instanceof Long || written instanceof Integer) {
      return Optional.of(BigDecimal.valueOf(((Number) written).longValue()));
    }
    String text = written instanceof String words ? words.strip() : "";
    if (text.isEmpty() || text.length() > MOST_DIGITS) {
      return Optional.empty();
    }
    try {
      BigDecimal number = new BigDecimal(text);
      // Rejects large exponents: 1e999999999 would become a gigabyte of zeros.
      return Math.abs((long) number.scale()) > MOST_DIGITS ? Optional.empty() : Optional.of(number);
    } catch (NumberFormatException notANumber) {
      return Optional.empty();
    }
  }

  /**
   * Returns sentences for the cost file: each names a missing part of the cost, and why it is
   * missing.
   */
  public List<String> limits() {
    List<String> limits = new ArrayList<>(unread);
    for (int task : broken) {
      limits.add("task " + task + ": its metrics cannot be read: " + Metric.EGRESS.effect);
    }
    return limits;
  }

  /**
   * Returns the task's metrics with valid numbers in one form, so that sums over tasks are exact.
   */
  JsonObject inOneForm(int task, JsonObject own) {
    BigDecimal bytes = egressBytes.get(task);
    BigDecimal part = gpuUtilization.get(task);
    if (bytes == null && part == null) {
      return own;
    }
    JsonObject same = own.without();
    if (bytes != null) {
      same.with(Metric.EGRESS.key, bytes);
    }
    return part == null ? same : same.with(Metric.UTILIZATION.key, part);
  }

  /** Returns the bytes that all tasks sent out; empty if no task reports them. */
  public Optional<BigDecimal> egress() {
    return egressBytes.values().stream().reduce(BigDecimal::add);
  }
}
