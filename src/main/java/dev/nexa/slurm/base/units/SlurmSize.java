package dev.nexa.slurm.base.units;

import java.math.BigDecimal;
import java.util.OptionalLong;

/**
 * Parses numbers as Slurm's commands print them: {@code 12}, {@code 9000M}, {@code 2.50G} ({@code
 * convert_num_unit} in Slurm's slurm_protocol_api.c).
 *
 * <p>Returns empty for a text that is not a number, is negative, or is one of Slurm's marks for "no
 * value" (NO_VAL and INFINITE of 32 and 64 bits, slurm.h).
 */
public final class SlurmSize {
  /** Bytes of a MiB, the unit of a memory size without a suffix in a TRES list. */
  public static final long MIB = 1L << 20;

  private static final String SUFFIXES = "KMGTPE";
  private static final int MOST_DIGITS = 18;

  private SlurmSize() {}

  /** Returns a whole number of at most 18 digits. */
  public static OptionalLong count(String text) {
    int length = text.length();
    if (length == 0 || length > MOST_DIGITS) {
      return OptionalLong.empty();
    }
    long number = 0;
    for (int i = 0; i < length; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return OptionalLong.empty();
      }
      number = number * 10 + digit;
    }
    return isNoValue(number) ? OptionalLong.empty() : OptionalLong.of(number);
  }

  /**
   * Returns the value of one resource of a TRES list such as {@code cpu=4,mem=8G}; empty if the
   * list does not name it.
   */
  public static String item(String list, String name) {
    int from = list.startsWith(name + "=") ? 0 : list.indexOf("," + name + "=") + 1;
    if (from == 0 && !list.startsWith(name + "=")) {
      return "";
    }
    int comma = list.indexOf(',', from);
    return list.substring(from + name.length() + 1, comma < 0 ? list.length() : comma);
  }

  /**
   * Returns whether the number is negative, or is Slurm's NO_VAL or INFINITE of 32 bits (slurm.h).
   */
  public static boolean isNoValue(long number) {
    return number < 0 || number == 0xFFFF_FFFEL || number == 0xFFFF_FFFFL;
  }

  /**
   * Returns a size in bytes, with an optional binary suffix from K to E.
   *
   * @param unit the bytes that a number without a suffix counts
   */
  public static OptionalLong bytes(String text, long unit) {
    return scaled(text, unit, 1024);
  }

  /**
   * Returns a scaled number. Energy, for example, has suffixes of base 1000.
   *
   * @param unit the factor of a number without a suffix
   * @param base the factor from one suffix to the next: 1000 or 1024
   */
  public static OptionalLong scaled(String text, long unit, int base) {
    int length = text.length();
    if (length == 0) {
      return OptionalLong.empty();
    }
    int step = SUFFIXES.indexOf(Character.toUpperCase(text.charAt(length - 1))) + 1;
    String digits = step > 0 ? text.substring(0, length - 1) : text;
    BigDecimal factor = step > 0 ? BigDecimal.valueOf(base).pow(step) : BigDecimal.valueOf(unit);
    if (count(digits).isEmpty() && !isFraction(digits)) {
      return OptionalLong.empty();
    }
    BigDecimal bytes = new BigDecimal(digits).multiply(factor);
    // Slurm prints NO_VAL of 64 bits as 16.00E.
    return bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0
        ? OptionalLong.empty()
        : OptionalLong.of(bytes.longValue());
  }

  /** Returns whether the text has the form {@code 2.50}. */
  private static boolean isFraction(String text) {
    int point = text.indexOf('.');
    return point >= 1
        && point < text.length() - 1
        && point == text.lastIndexOf('.')
        && text.length() <= MOST_DIGITS
        && text.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
  }
}
