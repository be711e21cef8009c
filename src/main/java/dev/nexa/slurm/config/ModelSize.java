package dev.nexa.slurm.config;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parameter counts as people write them: {@code 350M}, {@code 7B}, {@code 1.5T}. */
public final class ModelSize {
  private static final Pattern SIZE = Pattern.compile("([0-9]{1,6}(?:\\.[0-9]{1,6})?)([MBTmbt])");
  private static final Pattern IN_NAME =
      Pattern.compile("(?:^|[-_/.])([0-9]{1,6}(?:\\.[0-9]{1,6})?)([MmBb])(?:[-_.]|$)");

  private ModelSize() {}

  /** As written; where nothing is written, as the model's name tells. */
  public static Optional<Long> of(Optional<String> written, String name) {
    return written.isPresent() ? parse(written.get()) : ofName(name);
  }

  static Optional<Long> parse(String text) {
    Matcher size = SIZE.matcher(text);
    return size.matches() ? Optional.of(count(size)) : Optional.empty();
  }

  /** What a model's name says of it, such as {@code Llama-3.1-70B-Instruct}. */
  static Optional<Long> ofName(String name) {
    Matcher size = IN_NAME.matcher(name);
    return size.find() ? Optional.of(count(size)) : Optional.empty();
  }

  private static long count(Matcher size) {
    int zeros =
        switch (size.group(2)) {
          case "M", "m" -> 6;
          case "T", "t" -> 12;
          default -> 9;
        };
    return new BigDecimal(size.group(1)).scaleByPowerOfTen(zeros).longValue();
  }
}
