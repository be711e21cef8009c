package dev.nexa.slurm.units;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory sizes in bytes. Suffixes are Slurm's and binary (sbatch(1), {@code --mem}): K, M, G, T,
 * and M where none is given; {@code iB} and {@code B} endings are tolerated.
 */
public final class Memory {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,15})\\s?([KMGT]?)(?:i?B)?", Pattern.CASE_INSENSITIVE);
  private static final long MIB = 1L << 20;

  /** What is accepted, in words fit for an error message. */
  public static final String FORMS = "a memory size: 64G, 512M, 1T, or a plain number of MiB";

  private Memory() {}

  /**
   * Bytes.
   *
   * @throws IllegalArgumentException if the text is no size, is zero or does not fit a long
   */
  public static long parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("expected " + FORMS + ", got '" + text + "'");
    }
    try {
      long bytes = Math.multiplyExact(Long.parseLong(matcher.group(1)), factor(matcher.group(2)));
      if (bytes >= MIB) {
        return bytes;
      }
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException(
          "'" + text + "' is more memory than can be counted", tooLarge);
    }
    throw new IllegalArgumentException("expected at least 1M of memory, got '" + text + "'");
  }

  private static long factor(String suffix) {
    if (suffix.isEmpty()) {
      return MIB;
    }
    return switch (Character.toUpperCase(suffix.charAt(0))) {
      case 'K' -> 1L << 10;
      case 'G' -> 1L << 30;
      case 'T' -> 1L << 40;
      default -> MIB;
    };
  }

  /** Slurm's form in whole MiB, rounded up: {@code 65536M}. */
  public static String slurm(long bytes) {
    return (bytes + MIB - 1) / MIB + "M";
  }

  /** The shortest exact form for a person: {@code 64G}. */
  public static String words(long bytes) {
    String[] suffixes = {"B", "K", "M", "G", "T"};
    int step = 0;
    long value = bytes;
    while (step < 4 && value >= 1024 && value % 1024 == 0) {
      value /= 1024;
      step++;
    }
    return value + suffixes[step];
  }
}
