package dev.nexa.slurm.approve;

/**
 * OpenSSH's lists of patterns (ssh_config(5), PATTERNS): {@code ada@site,*@lab,!eve@*}, with {@code
 * *} for any text, {@code ?} for one character and {@code !} for what must not match.
 */
final class PatternList {
  private PatternList() {}

  /** Whether one of the patterns matches the whole text and none that is negated does. */
  static boolean matches(String list, String text) {
    boolean matches = false;
    for (String pattern : list.split(",", -1)) {
      boolean negated = pattern.startsWith("!");
      if (one(negated ? pattern.substring(1) : pattern, text)) {
        if (negated) {
          return false;
        }
        matches = true;
      }
    }
    return matches;
  }

  /** Goes back to the last star where it fails, so that no pattern takes long. */
  static boolean one(String pattern, String text) {
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
