package dev.nexa.slurm.job.config.shared;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses parameter counts: {@code 350M}, {@code 7B}, {@code 8x7B}, {@code 1.5T}. */
public final class ModelSize {
  /** Pattern of the key {@code model_size}. */
  public static final String FORM = "([0-9]{1,3}x)?[0-9]{1,6}(\\.[0-9]{1,6})?[MBTmbt]";

  private static final double NEAR = 1.5;
  private static final long BILLION = 1_000_000_000L;

  private static final Pattern SIZE =
      Pattern.compile("(?:([0-9]{1,3})x)?([0-9]{1,6}(?:\\.[0-9]{1,6})?)([MBTmbt])");

  /** Pattern of a size in a model's name, including {@code 8x7B}, {@code 1_6b} and {@code 7b1}. */
  private static final Pattern IN_NAME =
      Pattern.compile(
          "(?:^|[-_/]|(?<![0-9])\\.)(?:([0-9]{1,3})x)?([0-9]{1,6}(?:[._][0-9]{1,6})?)([MmBb])([0-9])?(?:[-_./]|$)");

  private ModelSize() {}

  /**
   * Returns the number of parameters: the written size, or the size in the model's name if no size
   * is written. Empty if the size is not known.
   */
  public static Optional<Long> of(Optional<String> written, String name) {
    return written.isPresent() ? parse(written.get()) : ofName(name);
  }

  public static Optional<Long> parse(String text) {
    Matcher size = SIZE.matcher(text);
    return size.matches() ? Optional.of(count(size, size.group(2))) : Optional.empty();
  }

  /**
   * Returns the number of parameters that a model's name gives, such as {@code
   * Llama-3.1-70B-Instruct}, or the published size of a few known models; empty if neither is
   * known.
   *
   * <p>A mixture of experts counts as experts times size, which is an upper bound: {@code 8x7B} is
   * 56B.
   */
  public static Optional<Long> ofName(String name) {
    Matcher size = IN_NAME.matcher(name);
    if (!size.find()) {
      return name.isEmpty() ? Optional.empty() : KnownModels.parameters(name);
    }
    String number = size.group(2).replace('_', '.');
    return Optional.of(count(size, size.group(4) == null ? number : number + "." + size.group(4)));
  }

  /**
   * Returns whether two numbers of parameters may be of one model. Sizes in names are rounded, and
   * count a mixture of experts too high.
   */
  public static boolean isNear(long one, long other) {
    return one <= other * NEAR && other <= one * NEAR;
  }

  /** Returns a number of parameters as a config writes it, such as {@code 7B} or {@code 350M}. */
  public static String words(long parameters) {
    boolean billions = parameters >= BILLION;
    return BigDecimal.valueOf(parameters)
            .movePointLeft(billions ? 9 : 6)
            .setScale(2, RoundingMode.HALF_UP)
            .stripTrailingZeros()
            .toPlainString()
        + (billions ? "B" : "M");
  }

  private static long count(Matcher size, String number) {
    int zeros =
        switch (size.group(3)) {
          case "M", "m" -> 6;
          case "T", "t" -> 12;
          default -> 9;
        };
    BigDecimal experts = size.group(1) == null ? BigDecimal.ONE : new BigDecimal(size.group(1));
    return new BigDecimal(number)
        .scaleByPowerOfTen(zeros)
        .multiply(experts)
        .min(BigDecimal.valueOf(Long.MAX_VALUE))
        .longValue();
  }
}
