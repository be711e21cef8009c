package dev.nexa.slurm.costs;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How runs went: how many completed, how long they waited and ran, what for, and their loss. */
public final class RunAnalysis {
  private static final int DECIMALS = 4;

  private final GroupBy by;
  private final Where where;
  private final Map<List<String>, Group> groups = new HashMap<>();
  private final Group total = new Group(List.of());

  public RunAnalysis(GroupBy by, Where where) {
    this.by = by;
    this.where = where;
  }

  public GroupBy by() {
    return by;
  }

  /** Adds a run, if it is meant. */
  public void add(RunLine run) {
    if (!where.accepts(run)) {
      return;
    }
    One one = One.of(run);
    for (List<String> key : by.keys(run)) {
      groups.computeIfAbsent(key, Group::new).add(one);
    }
    total.add(one);
  }

  /** The most runs first; months in their order. */
  public List<Group> groups() {
    List<Group> all = new ArrayList<>(groups.values());
    Comparator<Group> byKey = Comparator.comparing(group -> String.join("\n", group.key()));
    all.sort(
        by.words().get(0).equals(Field.MONTH.word())
            ? byKey
            : Comparator.comparing(Group::runs).reversed().thenComparing(byKey));
    return all;
  }

  /** All that is meant. */
  public Group total() {
    return total;
  }

  /** What a run adds to its groups and to the total: made once of its line. */
  private record One(
      boolean completed,
      @Nullable Long runSeconds,
      @Nullable Long queueSeconds,
      @Nullable BigDecimal loss,
      @Nullable Long gpu,
      @Nullable Long cpu,
      @Nullable Long wastedGpu,
      @Nullable Long wastedCpu) {

    static One of(RunLine run) {
      return new One(
          run.completed(),
          run.runSeconds(),
          run.queueSeconds(),
          run.decimal(Key.LOSS),
          run.gpuSeconds(),
          run.whole(Key.CPU_SECONDS),
          run.whole(Key.GPU_SECONDS_WASTED),
          run.whole(Key.CPU_SECONDS_WASTED));
    }
  }

  /** Runs that are alike. */
  public static final class Group {
    private final List<String> key;
    private final Percentiles<Long> runSeconds = new Percentiles<>();
    private final Percentiles<Long> queueSeconds = new Percentiles<>();
    private final Percentiles<BigDecimal> losses = new Percentiles<>();
    private int runs;
    private int completed;
    private long gpuSeconds;
    private long measuredGpuSeconds;
    private long wastedGpuSeconds;
    private long measuredCpuSeconds;
    private long wastedCpuSeconds;

    private Group(List<String> key) {
      this.key = key;
    }

    private void add(One run) {
      runs++;
      completed += run.completed ? 1 : 0;
      add(runSeconds, run.runSeconds);
      add(queueSeconds, run.queueSeconds);
      add(losses, run.loss);
      gpuSeconds += run.gpu == null ? 0 : run.gpu;
      if (run.gpu != null && run.wastedGpu != null) {
        measuredGpuSeconds += run.gpu;
        wastedGpuSeconds += run.wastedGpu;
      }
      if (run.cpu != null && run.wastedCpu != null) {
        measuredCpuSeconds += run.cpu;
        wastedCpuSeconds += run.wastedCpu;
      }
    }

    private static <T extends Comparable<? super T>> void add(
        Percentiles<T> values, @Nullable T value) {
      if (value != null) {
        values.add(value);
      }
    }

    public List<String> key() {
      return key;
    }

    public int runs() {
      return runs;
    }

    public int completed() {
      return completed;
    }

    /** Runs that completed, of all. */
    public Optional<BigDecimal> successRatio() {
      return part(completed, runs);
    }

    public long gpuSeconds() {
      return gpuSeconds;
    }

    /** Of the time that GPUs were held (CPUs where there were none), the part of good attempts. */
    public Optional<BigDecimal> efficiency() {
      return measuredGpuSeconds > 0
          ? part(measuredGpuSeconds - wastedGpuSeconds, measuredGpuSeconds)
          : part(measuredCpuSeconds - wastedCpuSeconds, measuredCpuSeconds);
    }

    private static Optional<BigDecimal> part(long some, long all) {
      return all == 0
          ? Optional.empty()
          : Optional.of(
              BigDecimal.valueOf(some)
                  .divide(BigDecimal.valueOf(all), DECIMALS, RoundingMode.HALF_EVEN));
    }

    /** From the first start to the last end. */
    public Optional<Long> runSeconds(int percent) {
      return runSeconds.of(percent);
    }

    /** From the first submission to the first start. */
    public Optional<Long> queueSeconds(int percent) {
      return queueSeconds.of(percent);
    }

    /** Of the runs that told one. */
    public Optional<BigDecimal> loss(int percent) {
      return losses.of(percent);
    }
  }
}
