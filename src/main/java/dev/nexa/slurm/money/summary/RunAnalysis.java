package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Summarizes how runs went, in groups: success ratio, waiting and run times, efficiency and loss.
 */
public final class RunAnalysis {
  private static final int DECIMALS = 4;

  private final GroupBy by;
  private final RunFilter where;
  private final Map<List<String>, Group> groups = new HashMap<>();
  private final Group total = new Group(List.of());

  /** Creates an empty analysis of the runs that the filter accepts. */
  public RunAnalysis(GroupBy by, RunFilter where) {
    this.by = by;
    this.where = where;
  }

  /** Returns the grouping. */
  public GroupBy by() {
    return by;
  }

  /** Adds a run if the filter accepts it. */
  public void add(LedgerLine run) {
    if (!where.accepts(run)) {
      return;
    }
    One one = One.of(run);
    for (List<String> key : by.keys(run)) {
      groups.computeIfAbsent(key, Group::new).add(one);
    }
    total.add(one);
  }

  /** Returns the groups by falling number of runs, or by month if months are grouped first. */
  public List<Group> groups() {
    Comparator<Group> byKey = Comparator.comparing(group -> String.join("\n", group.key()));
    Comparator<Group> byRuns = Comparator.comparing(Group::runs).reversed().thenComparing(byKey);
    boolean byMonth = by.words().get(0).equals(RunField.MONTH.word());
    return groups.values().stream().sorted(byMonth ? byKey : byRuns).toList();
  }

  /** Returns the total of all accepted runs. */
  public Group total() {
    return total;
  }

  /** The values of one run, computed once for all its groups and the total. */
  private record One(
      boolean completed,
      @Nullable Long runSeconds,
      @Nullable Long queueSeconds,
      @Nullable BigDecimal loss,
      @Nullable Long gpu,
      @Nullable Long cpu,
      @Nullable Long wastedGpu,
      @Nullable Long wastedCpu) {

    static One of(LedgerLine run) {
      return new One(
          run.completed(),
          run.runSeconds(),
          run.queueSeconds(),
          run.decimal(LedgerKey.LOSS),
          run.gpuSeconds(),
          run.whole(LedgerKey.CPU_SECONDS),
          run.whole(LedgerKey.GPU_SECONDS_WASTED),
          run.whole(LedgerKey.CPU_SECONDS_WASTED));
    }
  }

  /** The runs of one group. */
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

    /** Returns the group's value for each word of {@link RunAnalysis#by}; empty for the total. */
    public List<String> key() {
      return key;
    }

    /** Returns the number of runs. */
    public int runs() {
      return runs;
    }

    /** Returns the number of completed runs. */
    public int completed() {
      return completed;
    }

    /** Returns the share of completed runs, 0 to 1; empty if there are no runs. */
    public Optional<BigDecimal> successRatio() {
      return part(completed, runs);
    }

    /** Returns the allocated GPU-seconds. */
    public long gpuSeconds() {
      return gpuSeconds;
    }

    /**
     * Returns the share of allocated GPU-seconds in attempts that completed, 0 to 1. Without
     * GPU-seconds, CPU-seconds count. Empty if neither is known.
     */
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

    /** Returns a percentile of the seconds from first start to last end; empty if unknown. */
    public Optional<Long> runSeconds(int percent) {
      return runSeconds.of(percent);
    }

    /**
     * Returns a percentile of the seconds from first submission to first start; empty if unknown.
     */
    public Optional<Long> queueSeconds(int percent) {
      return queueSeconds.of(percent);
    }

    /**
     * Returns a percentile of the final loss, among the runs that reported one; empty if none did.
     */
    public Optional<BigDecimal> loss(int percent) {
      return losses.of(percent);
    }
  }
}
