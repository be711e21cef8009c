package dev.nexa.slurm.error;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds the name a person probably meant. */
public final class Nearest {
  /**
   * No slip of the fingers makes a word of a page; the distance takes its length times another's.
   */
  private static final int LONGEST = 200;

  private Nearest() {}

  /**
   * The candidate closest to {@code word}, if one is close enough to be a likely slip of the
   * fingers.
   */
  public static Optional<String> to(String word, Collection<String> candidates) {
    if (word.length() > LONGEST) {
      return Optional.empty();
    }
    String lower = word.toLowerCase(Locale.ROOT);
    String best = null;
    int bestDistance = Math.max(1, word.length() / 3) + 1;
    for (String candidate : candidates) {
      int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return Optional.ofNullable(best);
  }

  /** " (did you mean 'x'?)", or nothing. */
  public static String hint(String word, Collection<String> candidates) {
    return to(word, candidates).map(name -> " (did you mean '" + name + "'?)").orElse("");
  }

  /** Damerau's distance with adjacent transpositions: "nodse" is one step from "nodes". */
  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int substitution = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(substitution, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
