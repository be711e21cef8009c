package dev.nexa.slurm.records.signatures;

import java.util.List;

/**
 * Matches OpenSSH's pattern lists (ssh_config(5), PATTERNS), such as {@code ada@site,*@lab,!eve@*}.
 * {@code *} matches any text, {@code ?} one character, and {@code !} excludes each text that its
 * pattern matches.
 */
public final class PatternList {
  private PatternList() {}

  /** Returns whether a pattern matches the whole text and no excluding pattern does. */
  static boolean matches(String list, String text) {
    List<String> patterns = List.of(list.split(",", -1));
    return patterns.stream().noneMatch(each -> each.startsWith("!") && one(each.substring(1), text))
        && patterns.stream().anyMatch(each -> !each.startsWith("!") && one(each, text));
  }

  /**
   * Matches one pattern. On a mismatch it goes back only to the last star, so no pattern takes
   * exponential time.
   */
  public static boolean one(String pattern, String text) {
    int p = 0;
    int t = 0;
    int star = -1;
    int from = 0;
    while (t < text.length()) {
      char wanted = p < pattern.length() ? pattern.charAt(p) : 0;
      if (p < pattern.length() && wanted == '*') {
        star = p++;
        from = t;
      } else if (p < pattern.length() && (wanted == '?' || wanted == text.charAt(t))) {
        p++;
        t++;
      } else if (star >= 0) {
        p = star + 1;
        t = ++from;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
