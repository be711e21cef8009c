package dev.nexa.slurm.base.units;

import java.util.Collection;
import java.util.stream.Collectors;

/** Writes a number of things in words. */
public final class Plural {
  private Plural() {}

  /** Returns {@code 1 run}, or {@code 3 runs}: the noun gets an s. */
  public static String of(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }

  /** Returns the first ones, and how many more there are: {@code a, b and 3 more}. */
  public static String some(Collection<String> all, int most) {
    String shown = all.stream().limit(most).collect(Collectors.joining(", "));
    return all.size() > most ? shown + " and " + (all.size() - most) + " more" : shown;
  }
}
