package dev.nexa.slurm.insight.report;

/**
 * The GPU time of one month.
 *
 * @param seconds allocated GPU-seconds
 * @param wasted GPU-seconds of attempts that did not complete
 */
public record GpuHours(String month, long seconds, long wasted) {
  GpuHours plus(long more, long moreWasted) {
    return new GpuHours(month, seconds + more, wasted + moreWasted);
  }

  /** Returns the GPU-seconds of attempts that completed. */
  public long used() {
    return Math.max(0, seconds - wasted);
  }
}
