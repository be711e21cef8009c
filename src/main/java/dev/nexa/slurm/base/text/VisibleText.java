package dev.nexa.slurm.base.text;

/**
 * Makes control characters visible: {@code ^[} for ESC, {@code <U+202E>} for an override of the
 * text direction.
 */
public final class VisibleText {
  private static final int DELETE = 0x7f;
  private static final int FIRST_C1 = 0x80;
  private static final int LAST_C1 = 0x9f;

  private VisibleText() {}

  /**
   * Returns whether a terminal would act on the character or hide text because of it. These are the
   * control characters C0 and C1, DEL, and the Unicode characters that change the text direction or
   * begin a new line.
   */
  public static boolean isControl(char c) {
    return c < DELETE ? c < ' ' : c <= LAST_C1 || (c >= '\u061c' && reorders(c));
  }

  private static boolean reorders(char c) {
    return c == '\u061c'
        || (c >= '\u200e' && c <= '\u200f')
        || (c >= '\u2028' && c <= '\u202e')
        || (c >= '\u2066' && c <= '\u2069')
        || c == '\ufeff';
  }

  /** Returns a control character in visible form: {@code ^X} or {@code <U+XXXX>}. */
  public static String of(char c) {
    return c < FIRST_C1 ? "^" + (char) (c ^ 0x40) : String.format("<U+%04X>", (int) c);
  }

  /** Returns the text on one line, with its control characters in visible form. */
  public static String line(String text) {
    int i = 0;
    while (i < text.length() && !isControl(text.charAt(i))) {
      i++;
    }
    if (i == text.length()) {
      return text;
    }
    StringBuilder shown = new StringBuilder(text.length() + 16).append(text, 0, i);
    for (; i < text.length(); i++) {
      char c = text.charAt(i);
      shown.append(isControl(c) ? of(c) : "" + c);
    }
    return shown.toString();
  }
}
