package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The samples of a run in a few numbers: the manifest's key {@code telemetry}.
 *
 * @param measures the figures of each measure, over all GPUs and nodes
 * @param gpuMemoryBytes the memory of all GPUs of the largest node; empty if it is not known
 * @param memoryLimitBytes the least memory that the job may use on a node; empty if there is no
 *     limit
 * @param gpuJoules the energy of the GPUs, from their power; empty if it could not be read
 * @param before the means over all GPUs and nodes before the command started
 * @param after the same at the end
 * @param lost a node on which GPUs were missing; empty if there is none
 */
public record TelemetrySummary(
    Sampled sampled,
    Measures measures,
    Optional<Long> gpuMemoryBytes,
    Optional<Long> memoryLimitBytes,
    Optional<BigDecimal> gpuJoules,
    NodeTelemetry.Totals totals,
    Map<Measure, BigDecimal> before,
    Map<Measure, BigDecimal> after,
    @Key("lost_gpus") Optional<Lost> lost) {
  private static final int SHARE_DECIMALS = 4;

  /** From this percentage of the time on, a sample shows work, and not the start of a program. */
  private static final double WORK = 10;

  /** Fewer samples from the first to the last work are too few for a share of their own. */
  private static final int FEWEST_AT_WORK = 6;

  /**
   * What was sampled, and how well.
   *
   * @param source the program that was asked about GPUs; {@code none} if none was found
   * @param activity {@code dcgmi} if SM activity was read on any node, otherwise {@code none}
   * @param files how many attempts on a node were sampled
   * @param idle how idle the GPUs were; empty if it could not be read
   */
  public record Sampled(
      String source,
      String activity,
      int files,
      long samples,
      long brokenLines,
      int hangs,
      Optional<Idle> idle)
      implements Codec.Flat {}

  /** The figures of each measure that was sampled. */
  public record Measures(Map<Measure, Figures> all) implements Codec.Flat {}

  /** Mean, quantiles over time, and the largest value of a measure. */
  public record Figures(BigDecimal mean, BigDecimal p50, BigDecimal p95, BigDecimal peak) {
    /** Returns the figures of a series; empty if it has no values. */
    public static Optional<Figures> of(Measure measure, Spread spread) {
      return spread.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new Figures(
                  rounded(measure, spread.mean()),
                  rounded(measure, spread.quantile(0.5)),
                  rounded(measure, spread.quantile(0.95)),
                  rounded(measure, spread.peak())));
    }
  }

  /**
   * The shares of the GPUs' time in which no kernel ran, from 0 to 1.
   *
   * @param all of the whole time
   * @param atWork of the time from the first to the last work of the GPUs of a node: without the
   *     start of the program and its last checkpoint. Of the whole time where the GPUs never
   *     worked, or too short. Empty in manifests of earlier versions
   */
  public record Idle(
      @Key("gpu_idle_share") BigDecimal all,
      @Key("gpu_idle_share_at_work") Optional<BigDecimal> atWork)
      implements Codec.Flat {}

  /** A node that had fewer GPUs than the job was given. */
  public record Lost(int task, int restart, String node, int seen, int expected) {}

  private static BigDecimal rounded(Measure measure, OptionalDouble value) {
    return rounded(measure, value.orElse(0));
  }

  static BigDecimal rounded(Measure measure, double value) {
    return BigDecimal.valueOf(value)
        .setScale(measure.unit().isWhole() ? 1 : 0, RoundingMode.HALF_UP);
  }

  /** Adds files up, one by one. */
  static final class Sum {
    private final Map<Measure, Spread> spreads = new EnumMap<>(Measure.class);
    private final Mean before = new Mean();
    private final Mean after = new Mean();
    private final long[] moved = {-1, -1, -1, -1};
    private double millisAtWork;
    private double busyAtWork;
    private String source = "none";
    private String activity = "none";
    private int files;
    private long samples;
    private long broken;
    private int hangs;
    private long gpuMemory;
    private long limit = Long.MAX_VALUE;
    private Optional<Lost> lost = Optional.empty();

    void add(NodeTelemetry node) {
      files++;
      samples += node.samples();
      broken += node.brokenLines();
      hangs += node.hangs();
      source = node.facts().source().equals("none") ? source : node.facts().source();
      for (Series series : node.series()) {
        spreads
            .computeIfAbsent(series.measure(), measure -> new Spread(measure.unit()))
            .add(series.spread());
        if (series.measure() == Measure.SM_ACTIVITY) {
          activity = node.facts().activity();
        }
      }
      addWork(
          node.series().stream()
              .filter(series -> series.measure() == Measure.GPU_UTILIZATION)
              .toList());
      node.before().ifPresent(before::add);
      node.after().ifPresent(after::add);
      gpuMemory = Math.max(gpuMemory, node.gpuMemoryBytes());
      limit = Math.min(limit, node.facts().memoryBytes().orElse(Long.MAX_VALUE));
      move(0, node.totals().readBytes());
      move(1, node.totals().writtenBytes());
      move(2, node.totals().receivedBytes());
      move(3, node.totals().sentBytes());
      lost = lost.or(() -> node.fewestGpus().map(seen -> lost(node, seen)));
    }

    private static Lost lost(NodeTelemetry node, int seen) {
      TelemetryFile file = node.file();
      return new Lost(file.task(), file.restart(), file.node(), seen, node.facts().gpus());
    }

    /** Adds the time of a node's GPUs from their first to their last work. */
    private void addWork(List<Series> gpus) {
      List<Instant> busy =
          gpus.stream()
              .flatMap(gpu -> gpu.points().stream())
              .filter(point -> point.value() >= WORK)
              .map(Series.Point::at)
              .distinct()
              .sorted()
              .toList();
      boolean enough = busy.size() >= FEWEST_AT_WORK;
      for (Series gpu : gpus) {
        for (int i = 1; i < gpu.points().size(); i++) {
          Series.Point now = gpu.points().get(i);
          boolean outside =
              enough
                  && (now.at().isBefore(busy.get(0))
                      || now.at().isAfter(busy.get(busy.size() - 1)));
          if (!outside) {
            long held = Duration.between(gpu.points().get(i - 1).at(), now.at()).toMillis();
            millisAtWork += held;
            busyAtWork += held * now.value() / 100;
          }
        }
      }
    }

    private Idle idle(double mean) {
      return new Idle(
          share(1 - mean / 100),
          Optional.of(share(1 - (millisAtWork > 0 ? busyAtWork / millisAtWork : mean / 100))));
    }

    private static BigDecimal share(double share) {
      return BigDecimal.valueOf(share).setScale(SHARE_DECIMALS, RoundingMode.HALF_UP);
    }

    private void move(int which, Optional<Long> bytes) {
      bytes.ifPresent(more -> moved[which] = Math.max(0, moved[which]) + more);
    }

    private Optional<Long> moved(int which) {
      return moved[which] < 0 ? Optional.empty() : Optional.of(moved[which]);
    }

    Optional<TelemetrySummary> summary() {
      if (files == 0) {
        return Optional.empty();
      }
      Map<Measure, Figures> measures = new EnumMap<>(Measure.class);
      spreads.forEach(
          (measure, spread) ->
              Figures.of(measure, spread).ifPresent(found -> measures.put(measure, found)));
      Spread worked =
          spreads.getOrDefault(Measure.GPU_UTILIZATION, new Spread(Measure.Unit.PERCENT));
      Spread watts = spreads.getOrDefault(Measure.GPU_POWER, new Spread(Measure.Unit.WATTS));
      return Optional.of(
          new TelemetrySummary(
              new Sampled(
                  source,
                  activity,
                  files,
                  samples,
                  broken,
                  hangs,
                  worked.isEmpty() ? Optional.empty() : Optional.of(idle(worked.mean().orElse(0)))),
              new Measures(measures),
              gpuMemory == 0 ? Optional.empty() : Optional.of(gpuMemory),
              limit == Long.MAX_VALUE ? Optional.empty() : Optional.of(limit),
              Optional.of(BigDecimal.valueOf(watts.integral()).setScale(0, RoundingMode.HALF_UP))
                  .filter(joules -> !watts.isEmpty()),
              new NodeTelemetry.Totals(moved(0), moved(1), moved(2), moved(3)),
              before.values(),
              after.values(),
              lost));
    }
  }

  /** The means of a snapshot over all GPUs and nodes. */
  private static final class Mean {
    private final Map<Measure, Double> sums = new EnumMap<>(Measure.class);
    private final Map<Measure, Integer> counts = new EnumMap<>(Measure.class);

    void add(NodeTelemetry.Sample sample) {
      for (NodeTelemetry.Sample.Value one : sample.values()) {
        // A rate needs two samples: before the command there is none.
        if (one.measure().isOfGpu() || one.measure() == Measure.MEMORY) {
          sums.merge(one.measure(), one.value(), Double::sum);
          counts.merge(one.measure(), 1, Integer::sum);
        }
      }
    }

    Map<Measure, BigDecimal> values() {
      Map<Measure, BigDecimal> values = new EnumMap<>(Measure.class);
      sums.forEach(
          (measure, sum) ->
              values.put(measure, rounded(measure, sum / counts.getOrDefault(measure, 1))));
      return values;
    }
  }
}
