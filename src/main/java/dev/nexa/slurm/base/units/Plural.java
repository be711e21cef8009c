package dev.nexa.slurm.base.units;

/** Writes a number of things in words. */
public final class Plural {
  private Plural() {}

  /** Returns {@code 1 run}, or {@code 3 runs}: the noun gets an s. */
  public static String of(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }
}
