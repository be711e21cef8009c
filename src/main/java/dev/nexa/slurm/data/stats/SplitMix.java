package dev.nexa.slurm.data.stats;

/**
 * SplitMix64 (Steele, Lea and Flood, 2014). The numbers depend only on the seed, also in a later
 * Java, which {@code java.util.SplittableRandom} does not promise.
 */
final class SplitMix {
  private long state;

  SplitMix(long seed) {
    state = seed;
  }

  private long next() {
    state += 0x9e3779b97f4a7c15L;
    long z = state;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns a whole number from 0 to {@code bound - 1}. */
  int below(int bound) {
    return (int) (((next() >>> 32) * bound) >>> 32);
  }
}
