package dev.nexa.slurm.data.gate;

/**
 * The values of the items that two evaluations have in common, matched by id.
 *
 * @param candidate by item; not copied
 * @param baseline by item, in the same order; not copied
 * @param onlyCandidate items that only the candidate has a value for
 * @param onlyBaseline items that only the baseline has a value for
 * @param neither items without a value in both
 */
@SuppressWarnings("ArrayRecordComponent") // Nobody compares pairs.
public record Pairs(
    double[] candidate, double[] baseline, long onlyCandidate, long onlyBaseline, long neither) {

  /** Returns the number of pairs. */
  public int n() {
    return candidate.length;
  }

  /** Returns the share of all items that have no pair; 0 if there are no items. */
  double missing() {
    long without = onlyCandidate + onlyBaseline + neither;
    return n() + without == 0 ? 0 : (double) without / (n() + without);
  }

  /** Returns by how much each item became better; negative if it became worse. */
  double[] gains(boolean higherIsBetter) {
    double[] gains = new double[n()];
    for (int i = 0; i < gains.length; i++) {
      double difference = candidate[i] - baseline[i];
      gains[i] = higherIsBetter ? difference : -difference;
    }
    return gains;
  }
}
