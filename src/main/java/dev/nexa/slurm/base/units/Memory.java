package dev.nexa.slurm.base.units;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses and prints memory sizes. Suffixes are Slurm's, and binary (sbatch(1), {@code --mem}): K,
 * M, G and T; a number without a suffix counts MiB. The endings {@code iB} and {@code B} are
 * accepted too.
 */
public final class Memory {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,15})\\s?([KMGT]?)(?:i?B)?", Pattern.CASE_INSENSITIVE);
  private static final long MIB = 1L << 20;

  /** The accepted forms, for error messages. */
  public static final String FORMS = "a memory size: 64G, 512M, 1T, or a plain number of MiB";

  /** The accepted forms where a unit is required, for error messages. */
  public static final String FORMS_WITH_UNIT = "a memory size with its unit: 64G, 512M or 1T";

  /** People who type a bare number below this mostly think of GiB. */
  private static final long RATHER_GIB = 2048;

  private Memory() {}

  /**
   * Parses a size that has a unit, and returns it in bytes.
   *
   * @throws IllegalArgumentException as {@link #parse} does, and if the unit is missing; the
   *     message then proposes sizes with a unit
   */
  public static long parseWithUnit(String text) {
    if (text.matches("0+[KMGTkmgt]?")) {
      throw new IllegalArgumentException(
          "expected "
              + FORMS_WITH_UNIT
              + ", got '"
              + text
              + "': sbatch's --mem=0 means all memory of the node; for that write resources.memory:"
              + " all");
    }
    if (!text.matches("\\d{1,15}")) {
      if (!FORM.matcher(text).matches()) {
        throw wrong(FORMS_WITH_UNIT, text);
      }
      return parse(text);
    }
    String slurm = "sbatch's --mem=" + text + " means " + text + " MiB, which is " + text + "M";
    throw new IllegalArgumentException(
        "a memory size needs a unit: "
            + (Long.parseLong(text) < RATHER_GIB
                ? "write " + text + "G for " + text + " GiB (" + slurm + ")"
                : "write " + text + "M (" + slurm + ")"));
  }

  /**
   * Parses the size of files and returns it in bytes. There is no least size; a number without a
   * unit counts bytes.
   *
   * @throws IllegalArgumentException if the text is not a size, or does not fit a long
   */
  public static long parseBytes(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw wrong("a size such as 2G, 500M or 100K", text);
    }
    String unit = matcher.group(2);
    try {
      return Math.multiplyExact(
          Long.parseLong(matcher.group(1)), unit.isEmpty() ? 1 : factor(unit));
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException("'" + text + "' is more than can be counted", tooLarge);
    }
  }

  /**
   * Parses a size and returns it in bytes.
   *
   * @throws IllegalArgumentException if the text is not a size, is less than 1 MiB, or does not fit
   *     a long
   */
  public static long parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw wrong(FORMS, text);
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

  /**
   * Returns the error for a text that is no size; for a fraction, it says how to write the size.
   */
  private static IllegalArgumentException wrong(String forms, String text) {
    Matcher fraction =
        Pattern.compile("(\\d{0,6}\\.\\d{1,6})\\s?([KMGT]?)(?:i?B)?", Pattern.CASE_INSENSITIVE)
            .matcher(text);
    if (!fraction.matches()) {
      return new IllegalArgumentException("expected " + forms + ", got '" + text + "'");
    }
    String unit = fraction.group(2).isEmpty() ? "G" : fraction.group(2);
    long bytes =
        new BigDecimal(fraction.group(1)).multiply(BigDecimal.valueOf(factor(unit))).longValue();
    return new IllegalArgumentException(
        "expected a memory size such as 64G or 512M, got '"
            + text
            + "': write "
            + words(Math.max(1, (bytes + MIB - 1) / MIB) * MIB)
            + (fraction.group(2).isEmpty() ? " for " + text + " GiB" : ""));
  }

  private static long factor(String suffix) {
    return switch (suffix.toUpperCase(Locale.ROOT)) {
      case "K" -> 1L << 10;
      case "G" -> 1L << 30;
      case "T" -> 1L << 40;
      default -> MIB;
    };
  }

  /** Returns the size rounded up to whole MiB, as Slurm gives memory. */
  public static long wholeMib(long bytes) {
    return (bytes + MIB - 1) / MIB * MIB;
  }

  /** Returns the size in Slurm's form, in whole MiB rounded up: {@code 65536M}. */
  public static String slurm(long bytes) {
    return (bytes + MIB - 1) / MIB + "M";
  }

  /** Returns the size in the largest unit that divides it: {@code 64G}, {@code 1536M}. */
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

  /** Returns the size in words, with one decimal place where it needs one: {@code 62.5 GiB}. */
  public static String plain(long bytes) {
    return rounded(bytes).replace(".0 ", " ");
  }

  /** Returns the size for people, with one decimal place from 1 KiB on: {@code 1.5 MiB}. */
  public static String rounded(long bytes) {
    String[] units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int step = 0;
    double value = bytes;
    while (step < 4 && value >= 1024) {
      value /= 1024;
      step++;
    }
    return step == 0
        ? Plural.of(bytes, "byte")
        : String.format(Locale.ROOT, "%.1f %s", value, units[step]);
  }
}
