package dev.nexa.slurm.job.estimate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A cluster's year, made up: families of runs that are alike, whose times have heavy tails (a
 * Pareto share), two modes (such as with and without a cache), a drift and a sudden step, retries
 * and time limits that are hit. It knows nothing of how estimates are made, and shares no code and
 * no number with them.
 */
final class SimulatedRuns {
  /** Slurm may end an attempt so much later than its limit: KillWait 30 s, and its own minute. */
  private static final int LATEST_KILL = 89;

  private final SplittableRandom random;
  private final List<Family> families = new ArrayList<>();

  SimulatedRuns(long seed, int families) {
    this.random = new SplittableRandom(seed);
    for (int i = 0; i < families; i++) {
      this.families.add(family(i));
    }
  }

  /** Which part of the runs, and by how much. */
  record Share(double share, double by) {}

  /**
   * Runs that are alike.
   *
   * @param gpuHours of one task in the usual mode, at the beginning
   * @param spread of the logarithm
   * @param otherMode its share, and by how much it takes longer
   * @param tail its share, and the Pareto distribution's exponent
   * @param drift of the logarithm, from the first run to the last
   * @param step of the logarithm, after which share of the runs
   * @param bytes whether the size of the data is known, to which the time is proportional
   */
  record Family(
      String stage,
      String backend,
      String model,
      String gpuType,
      double gpuHours,
      double spread,
      Share otherMode,
      Share tail,
      double drift,
      Share step,
      boolean bytes) {}

  /**
   * A run and what became of it.
   *
   * @param number over all families, in the order of time
   * @param gpus of one task; 0 for a job on CPUs
   * @param cpus of one task
   * @param requeues allowed
   * @param bytes of its data; 0 where nobody knows
   * @param attempts the seconds of each attempt of each task
   * @param timedOut whether a task was ended by its limit
   */
  record Run(
      int number,
      Family family,
      int tasks,
      int gpus,
      int cpus,
      long memoryGib,
      int limitMinutes,
      int requeues,
      long bytes,
      List<Long> attempts,
      boolean timedOut) {

    long seconds() {
      long sum = 0;
      for (long attempt : attempts) {
        sum += attempt;
      }
      return sum;
    }
  }

  private Family family(int number) {
    boolean onCpus = random.nextInt(5) == 0;
    String[] types = {"h100", "a100"};
    return new Family(
        onCpus ? "data" : random.nextBoolean() ? "train" : "eval",
        onCpus ? "shell" : "axolotl",
        "model-" + number,
        onCpus ? "" : types[random.nextInt(2)],
        Math.exp(between(-1.2, 3.2)),
        between(0.05, 0.5),
        new Share(between(0, 0.45), between(1.3, 4)),
        new Share(between(0, 0.1), between(1.4, 2.6)),
        between(-0.9, 0.9),
        new Share(between(0.2, 0.8), between(-0.5, 0.5)),
        random.nextBoolean());
  }

  /** So many runs of each family, mixed. */
  List<Run> runs(int ofEach) {
    List<Family> order = new ArrayList<>();
    for (Family family : families) {
      for (int i = 0; i < ofEach; i++) {
        order.add(family);
      }
    }
    for (int i = order.size() - 1; i > 0; i--) {
      Family swapped = order.set(random.nextInt(i + 1), order.get(i));
      order.set(i, swapped);
    }
    List<Run> runs = new ArrayList<>();
    int[] seen = new int[families.size()];
    for (Family family : order) {
      double age = seen[families.indexOf(family)]++ / (double) ofEach;
      runs.add(run(runs.size(), family, age));
    }
    return runs;
  }

  private Run run(int number, Family family, double age) {
    boolean onCpus = family.gpuType.isEmpty();
    int tasks = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(16);
    int gpus = onCpus ? 0 : 1 << random.nextInt(4);
    int cpus = onCpus ? 4 : 8 * gpus;
    long bytes = family.bytes ? (long) (1e9 * Math.exp(between(-1, 1))) : 0;
    double hours = family.gpuHours / (onCpus ? 4 : gpus) * (bytes == 0 ? 1 : bytes / 1e9);
    hours *= Math.exp(family.drift * age + (age > family.step.share ? family.step.by : 0));
    hours *= random.nextDouble() < family.otherMode.share ? family.otherMode.by : 1;
    hours *= Math.exp(family.spread * normal());
    if (random.nextDouble() < family.tail.share) {
      hours *= Math.pow(1 - random.nextDouble(), -1 / family.tail.by);
    }
    // People ask for what surely suffices, and sometimes it does not.
    double usual = family.gpuHours / (onCpus ? 4 : gpus) * (bytes == 0 ? 1 : bytes / 1e9);
    int limitMinutes = (int) Math.ceil(60 * usual * between(3, 12)) + 1;
    int requeues = random.nextInt(3);
    List<Long> attempts = new ArrayList<>();
    boolean timedOut = false;
    for (int task = 0; task < tasks; task++) {
      long needs = Math.max(1, (long) (3600 * hours * Math.exp(0.05 * normal())));
      for (int again = 0; again < requeues && random.nextInt(12) == 0; again++) {
        attempts.add(Math.min(60L * limitMinutes, (long) (needs * random.nextDouble())));
      }
      timedOut |= needs > 60L * limitMinutes;
      attempts.add(
          needs > 60L * limitMinutes ? 60L * limitMinutes + random.nextInt(LATEST_KILL) : needs);
    }
    return new Run(
        number,
        family,
        tasks,
        gpus,
        cpus,
        (long) cpus * 4,
        limitMinutes,
        requeues,
        bytes,
        attempts,
        timedOut);
  }

  private double between(double least, double most) {
    return least + (most - least) * random.nextDouble();
  }

  private double normal() {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
      sum += random.nextDouble();
    }
    return sum;
  }
}
