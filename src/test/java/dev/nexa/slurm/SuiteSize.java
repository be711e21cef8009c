package dev.nexa.slurm;

/**
 * How much a suite tries: little in {@code ./check}, all of it in {@code ./check --full}. A system
 * property of the suite's own asks for another number.
 */
public final class SuiteSize {
  /** Whether this is {@code ./check --full}. */
  public static final boolean FULL = Boolean.getBoolean("full");

  private SuiteSize() {}

  /** Returns the number that the property gives; without it, one of the two others. */
  public static int of(String property, int inCheck, int inFull) {
    return Integer.getInteger(property, FULL ? inFull : inCheck);
  }
}
