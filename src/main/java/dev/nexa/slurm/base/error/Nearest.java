package dev.nexa.slurm.base.error;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Suggests the known name that is closest to a misspelled one. */
public final class Nearest {
  /**
   * Longer words get no suggestion: comparing two words takes time proportional to the product of
   * their lengths.
   */
  private static final int LONGEST = 200;

  private Nearest() {}

  /**
   * Returns the candidate with the smallest edit distance to {@code word}, ignoring case.
   *
   * <p>The distance must not exceed a third of the word's length (at least 1). Among equal
   * distances, the first candidate wins.
   *
   * @return empty if no candidate is close enough, or if {@code word} has more than 200 characters
   */
  public static Optional<String> to(String word, Collection<String> candidates) {
    int most = Math.max(1, word.length() / 3);
    return candidates.stream()
        .filter(name -> word.length() <= LONGEST && distance(word, name) <= most)
        .min(Comparator.comparingInt(name -> distance(word, name)));
  }

  /**
   * Returns the candidates that are most like {@code word}, at most {@code most}: first those that
   * contain it, then by edit distance, then by their order. A word of more than 200 characters gets
   * the first candidates.
   */
  public static List<String> first(String word, Collection<String> candidates, int most) {
    List<String> sorted = new ArrayList<>(candidates);
    if (word.length() <= LONGEST) {
      String lower = word.toLowerCase(Locale.ROOT);
      Comparator<String> inside =
          Comparator.comparing(name -> !name.toLowerCase(Locale.ROOT).contains(lower));
      sorted.sort(inside.thenComparingInt(name -> distance(word, name)));
    }
    return List.copyOf(sorted.subList(0, Math.min(most, sorted.size())));
  }

  /** Returns {@code " (did you mean 'x'?)"} for the closest candidate, or an empty string. */
  public static String hint(String word, Collection<String> candidates) {
    return to(word, candidates).map(name -> " (did you mean '" + name + "'?)").orElse("");
  }

  /**
   * Returns {@code " (did you mean 'x'?)"} for another spelling of a product's name, such as a GPU
   * type or a model; else an empty string. A product with one other letter or digit is another
   * product (v100 and h100, a10 and a100), so only case, punctuation and the order of the letters
   * may differ. The whole name of a GPU, such as {@code NVIDIA H100 80GB HBM3}, holds its type.
   */
  public static String product(String word, Collection<String> candidates) {
    for (String candidate : candidates) {
      boolean maker = word.matches("(?i)(NVIDIA|Tesla|AMD|GeForce|Quadro)[ _-].*");
      List<String> words = maker ? List.of(word.split("[ _-]", -1)) : List.of(word);
      if (word.length() <= LONGEST
          && words.stream().anyMatch(one -> letters(candidate).equals(letters(one)))) {
        return " (did you mean '" + candidate + "'?)";
      }
    }
    return "";
  }

  /** Returns the digits in their order, and the letters sorted. */
  private static String letters(String name) {
    char[] letters = name.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}]", "").toCharArray();
    Arrays.sort(letters);
    return name.replaceAll("\\D", "") + new String(letters);
  }

  /**
   * Computes the edit distance, ignoring case, where swapping two neighbours is one step: "nodse"
   * is one step from "nodes".
   */
  private static int distance(String one, String other) {
    String a = one.toLowerCase(Locale.ROOT);
    String b = other.toLowerCase(Locale.ROOT);
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int substitution = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(substitution, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
