package dev.nexa.slurm.estimate;

import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.estimate.Traits.Level;
import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The past runs that are like a plan, and how long one of its tasks would take by them. The most
 * alike are taken that are at least {@link Quantiles#FEWEST}; never those of another stage or
 * model. The work is taken to stay the same: a task on twice the GPUs takes half as long, on twice
 * the data twice as long; on another GPU type the same money buys the same work.
 */
public final class History {
  /** Of older ones nothing is learned. */
  private static final int MOST = 100;

  private final Level level;
  private final boolean scaledByData;
  private final List<PastRun> runs;
  private final double[] seconds;

  private History(Level level, boolean scaledByData, List<PastRun> runs, double[] seconds) {
    this.level = level;
    this.scaledByData = scaledByData;
    this.runs = runs;
    this.seconds = seconds;
  }

  /**
   * The history of a plan.
   *
   * @param data that it goes through
   * @param past newest first
   * @param rates by which GPU types are compared
   */
  public static History of(Plan plan, DataSize data, List<PastRun> past, Rates rates) {
    Traits wanted = Traits.of(plan);
    History widest = new History(Level.MODEL, false, List.of(), new double[0]);
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
      widest = new History(level, scaled, alike, oldestFirst(seconds));
      if (widest.isEnough()) {
        return widest;
      }
    }
    return widest;
  }

  /** What a second of all the run's GPUs, or CPUs, is for one task of the plan; 0 for nothing. */
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

  /** What the first type costs, in parts of the other; 0 where a price is missing. */
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
    double[] oldestFirst = new double[newestFirst.size()];
    for (int i = 0; i < oldestFirst.length; i++) {
      oldestFirst[oldestFirst.length - 1 - i] = newestFirst.get(i);
    }
    return oldestFirst;
  }

  /** Newest first. */
  public List<PastRun> runs() {
    return runs;
  }

  /** Whether they are enough to promise something. */
  public boolean isEnough() {
    return runs.size() >= Quantiles.FEWEST;
  }

  /** Half of the next runs will take no longer for a task, all its attempts together. */
  public long secondsP50() {
    return (long) Math.ceil(new Quantiles(seconds).p50());
  }

  /** Nine of ten. */
  public long secondsP90() {
    return (long) Math.ceil(new Quantiles(seconds).p90());
  }

  /** What they share, and how they were made comparable. */
  public String likeness() {
    return level.words() + (scaledByData ? "; scaled by the size of the data" : "");
  }

  /** Whether they were this very job: of its name, data and cluster. */
  public boolean isOfSameJob() {
    return level == Level.ALL;
  }

  /** Whether they ran on GPUs of this plan's type. */
  public boolean onSameGpus() {
    return level != Level.MODEL;
  }

  /**
   * The longest attempt of each run, as long as it would be here; oldest first, without those of
   * which it is not known.
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
