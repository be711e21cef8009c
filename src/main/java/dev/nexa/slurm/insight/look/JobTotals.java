package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Hours;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * The totals of some attempts of jobs.
 *
 * @param jobs the number of attempts; a job that was requeued has several
 * @param gpuSeconds GPUs times seconds
 * @param cpuSeconds CPUs times seconds
 * @param cost by the price book, not rounded
 */
public record JobTotals(long jobs, long gpuSeconds, long cpuSeconds, BigDecimal cost) {
  static final JobTotals NOTHING = new JobTotals(0, 0, 0, BigDecimal.ZERO);

  JobTotals plus(JobTotals other) {
    return new JobTotals(
        jobs + other.jobs,
        gpuSeconds + other.gpuSeconds,
        cpuSeconds + other.cpuSeconds,
        cost.add(other.cost));
  }

  /** Returns GPU-hours with one decimal. */
  public String gpuHours() {
    return hours(gpuSeconds);
  }

  /** Returns CPU-hours with one decimal. */
  public String cpuHours() {
    return hours(cpuSeconds);
  }

  private static String hours(long seconds) {
    return Hours.of(seconds).setScale(1, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** Returns the members in JSON; the cost has two decimals. */
  JsonObject toJson() {
    return new JsonObject()
        .with("jobs", jobs)
        .with("gpu_hours", Hours.of(gpuSeconds).toPlainString())
        .with("cpu_hours", Hours.of(cpuSeconds).toPlainString())
        .with("cost", cost.setScale(2, RoundingMode.HALF_EVEN).toPlainString());
  }
}
