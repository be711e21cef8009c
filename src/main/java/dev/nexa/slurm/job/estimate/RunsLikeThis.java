package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.estimate.RunSimilarity.Level;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The past runs that are similar to a plan, and the duration of one of its tasks by them.
 *
 * <p>Takes the highest level of similarity that has at least {@link Quantiles#FEWEST} runs. All
 * share stage, backend and model. Durations are scaled: a task on twice the GPUs takes half as
 * long, on twice the data twice as long, and on another GPU type the same money does the same work.
 */
public final class RunsLikeThis {
  /** The most runs that count; older ones are ignored. */
  private static final int MOST = 100;

  private final Level level;
  private final boolean scaledByData;
  private final List<PastRun> runs;
  private final double[] seconds;

  private RunsLikeThis(Level level, boolean scaledByData, List<PastRun> runs, double[] seconds) {
    this.level = level;
    this.scaledByData = scaledByData;
    this.runs = runs;
    this.seconds = seconds;
  }

  /**
   * Returns the history of a plan. If no level has enough runs, returns the runs of the lowest
   * level.
   *
   * @param data the amount of data that the plan processes
   * @param past the past runs, newest first
   * @param rates the prices that GPU types are compared by
   */
  public static RunsLikeThis of(Plan plan, DataSize data, List<PastRun> past, Rates rates) {
    RunSimilarity wanted = RunSimilarity.of(plan);
    RunsLikeThis widest = new RunsLikeThis(Level.MODEL, false, List.of(), new double[0]);
    for (Level level : Level.values()) {
      List<PastRun> alike = new ArrayList<>();
      List<Double> seconds = new ArrayList<>();
      boolean scaled = false;
      for (PastRun run : past) {
        double scale = scale(plan, data, run, rates);
        if (alike.size() < MOST && run.traits().isLike(wanted, level) && scale > 0) {
          alike.add(run);
          seconds.add(scale * (plan.billed().gpus() > 0 ? run.gpuSeconds() : run.cpuSeconds()));
          scaled |= data.comparable(run.data());
        }
      }
      widest = new RunsLikeThis(level, scaled, alike, oldestFirst(seconds));
      if (widest.isEnough()) {
        return widest;
      }
    }
    return widest;
  }

  /**
   * Returns the factor from a run's total GPU-seconds or CPU-seconds to seconds of one task of the
   * plan; 0 if the run cannot be compared.
   */
  private static double scale(Plan plan, DataSize data, PastRun run, Rates rates) {
    boolean onGpus = plan.billed().gpus() > 0;
    if (run.tasks() < 1
        || run.gpuSeconds() > 0 != onGpus
        || run.cpuSeconds() + run.gpuSeconds() < 1) {
      return 0;
    }
    double each = (double) run.tasks() * (onGpus ? plan.billed().gpus() : plan.billed().cpus());
    double dearer = onGpus ? dearer(run.traits().gpuType(), plan.billed().gpuType(), rates) : 1;
    return data.times(run.data()) * dearer / each;
  }

  /** Returns the price of the first GPU type divided by the second's; 0 if a price is missing. */
  private static double dearer(Optional<String> type, Optional<String> other, Rates rates) {
    if (type.equals(other)) {
      return 1;
    }
    Price one = rates.gpuHour().get(type.orElse(""));
    Price two = rates.gpuHour().get(other.orElse(""));
    return one == null || two == null || two.price().signum() == 0
        ? 0
        : one.price().doubleValue() / two.price().doubleValue();
  }

  private static double[] oldestFirst(List<Double> newestFirst) {
    Collections.reverse(newestFirst);
    return newestFirst.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /** Returns the runs, newest first. */
  public List<PastRun> runs() {
    return runs;
  }

  /** Returns whether there are enough runs for a forecast. */
  public boolean isEnough() {
    return runs.size() >= Quantiles.FEWEST;
  }

  /** Returns the median duration of a task, all its attempts together. */
  public long secondsP50() {
    return (long) Math.ceil(new Quantiles(seconds).p50());
  }

  /** Returns the duration that nine tasks out of ten do not exceed. */
  public long secondsP90() {
    return (long) Math.ceil(new Quantiles(seconds).p90());
  }

  /** Returns the properties that the runs share, and whether durations were scaled by data. */
  public String likeness() {
    return level.words() + (scaledByData ? "; scaled by the size of the data" : "");
  }

  /** Returns whether the runs share name, dataset and cluster with the plan too. */
  public boolean isOfSameJob() {
    return level == Level.ALL;
  }

  /** Returns whether the runs used the plan's GPU type. */
  public boolean onSameGpus() {
    return level != Level.MODEL;
  }

  /**
   * Returns the longest attempt of each run in seconds, scaled to the plan; oldest first. Skips
   * runs whose longest attempt is unknown.
   */
  public double[] longestAttempts(Plan plan, DataSize data, Rates rates) {
    List<Double> longest = new ArrayList<>();
    for (PastRun run : runs) {
      if (run.longestSeconds().isPresent() && run.width().isPresent()) {
        boolean onGpus = plan.billed().gpus() > 0;
        double gpus = onGpus ? dearer(run.traits().gpuType(), plan.billed().gpuType(), rates) : 1;
        double width =
            (double) run.width().get() / (onGpus ? plan.billed().gpus() : plan.billed().cpus());
        longest.add(run.longestSeconds().get() * width * gpus * data.times(run.data()));
      }
    }
    return oldestFirst(longest);
  }
}
