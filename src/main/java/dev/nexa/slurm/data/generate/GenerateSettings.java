package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.TimeLimit;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings for sending requests.
 *
 * @param url the server's base URL, such as {@code https://HOST/v1}; empty if the command line
 *     gives it
 * @param model the model that each request names; empty for the request's own model
 * @param apiKey the name of the environment variable with the server's key; empty for no key
 * @param concurrency how many requests wait for an answer at the same time
 * @param timeout how long one try may take
 * @param retries how often a request is sent again
 * @param maxFailed the largest share of requests that may fail for good
 * @param limit the most tokens of the whole run; {@link Tokens#UNLIMITED} for no limit
 * @param logprobs the number of log-probabilities to ask for, for each token of a conversation;
 *     empty for answers
 */
public record GenerateSettings(
    Optional<String> url,
    Optional<String> model,
    Optional<String> apiKey,
    int concurrency,
    Duration timeout,
    int retries,
    double maxFailed,
    Tokens limit,
    Optional<Integer> logprobs) {
  /**
   * Reads the settings, which have all defaults.
   *
   * @throws IllegalArgumentException if a value has another type
   */
  public static GenerateSettings of(JsonObject json) {
    return new GenerateSettings(
        json.optionalText("url"),
        json.optionalText("model"),
        json.optionalText("api_key"),
        json.optionalDecimal("concurrency").map(BigDecimal::intValueExact).orElse(16),
        TimeLimit.parseExact(json.text("timeout")),
        (int) json.number("retries"),
        json.decimal("max_failed").doubleValue(),
        new Tokens(
            most(json, "max_input_tokens", Tokens.UNLIMITED.input()),
            most(json, "max_output_tokens", Tokens.UNLIMITED.output())),
        json.optionalDecimal("logprobs").map(GenerateSettings::logprobs));
  }

  private static int logprobs(BigDecimal number) {
    int top = number.intValueExact();
    if (top < 1 || top > 100) {
      throw new IllegalArgumentException("logprobs: expected 1 to 100, got " + top);
    }
    return top;
  }

  private static long most(JsonObject json, String name, long otherwise) {
    return json.optionalDecimal(name)
        .map(number -> number.min(BigDecimal.valueOf(otherwise)).longValue())
        .orElse(otherwise);
  }

  /** Returns whether the tokens have a limit, so that each request must say its most. */
  boolean limited() {
    return limit.input() < Tokens.UNLIMITED.input() || limit.output() < Tokens.UNLIMITED.output();
  }

  /** Returns a task's share of the limit: an equal part, rounded down. */
  Tokens limitOfEach(int tasks) {
    return new Tokens(limit.input() / tasks, limit.output() / tasks);
  }
}
