package dev.nexa.slurm.data.stats;

/**
 * Wilson's interval (1927) of a share. Unlike the bootstrap's it has a width if all values are the
 * same.
 */
public final class Wilson {
  private Wilson() {}

  /** Returns the interval of the mean of 0/1 values. */
  public static Interval of(double[] values, double confidence) {
    int n = values.length;
    double share = Sample.mean(values);
    double z = Normal.quantile(0.5 + confidence / 2);
    double scale = 1 + z * z / n;
    double middle = (share + z * z / (2 * n)) / scale;
    double width = z * Math.sqrt(share * (1 - share) / n + z * z / (4.0 * n * n)) / scale;
    return new Interval(Math.max(0, middle - width), Math.min(1, middle + width), confidence);
  }
}
