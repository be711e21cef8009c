package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * Numbers of tokens.
 *
 * @param input the tokens of prompts
 * @param output the tokens of answers
 */
public record Tokens(long input, long output) {
  static final Tokens NONE = new Tokens(0, 0);

  /** More than any run uses. */
  static final Tokens UNLIMITED = new Tokens(Long.MAX_VALUE / 4, Long.MAX_VALUE / 4);

  private static final BigDecimal MOST = BigDecimal.valueOf(UNLIMITED.input);

  Tokens plus(Tokens other) {
    return new Tokens(input + other.input, output + other.output);
  }

  Tokens minus(Tokens other) {
    return new Tokens(input - other.input, output - other.output);
  }

  /** Returns whether neither number is greater than the other's. */
  boolean fits(Tokens limit) {
    return input <= limit.input && output <= limit.output;
  }

  /**
   * Reads the {@code usage} of an answer. Chat and completions call the numbers {@code
   * prompt_tokens} and {@code completion_tokens}, responses {@code input_tokens} and {@code
   * output_tokens}. Embeddings have no output.
   *
   * @return empty if the answer does not say how many tokens its prompt had
   */
  static Optional<Tokens> usage(JsonObject body) {
    if (!(body.members().get("usage") instanceof JsonObject usage)) {
      return Optional.empty();
    }
    Optional<Long> input = number(usage, "prompt_tokens").or(() -> number(usage, "input_tokens"));
    Optional<Long> output =
        number(usage, "completion_tokens").or(() -> number(usage, "output_tokens"));
    return input.map(tokens -> new Tokens(tokens, output.orElse(0L)));
  }

  private static Optional<Long> number(JsonObject json, String name) {
    return json.members().get(name) instanceof BigDecimal number
            && number.signum() >= 0
            && number.compareTo(MOST) <= 0
        ? Optional.of(number.longValue())
        : Optional.empty();
  }

  List<Long> toJson() {
    return List.of(input, output);
  }

  /**
   * Reads the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static Tokens of(JsonObject json, String name) {
    if (json.members().get(name) instanceof List<?> list
        && list.size() == 2
        && list.get(0) instanceof BigDecimal input
        && list.get(1) instanceof BigDecimal output) {
      return new Tokens(input.longValue(), output.longValue());
    }
    throw new IllegalArgumentException("expected two numbers of tokens under \"" + name + "\"");
  }
}
