package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Tokens that a run sends to a paid API and gets from it: the most that a run may use, or the
 * tokens that a run used.
 *
 * @param model the model's name as the API and the price book's {@code api_tokens} have it
 * @param input the number of tokens that the model reads
 * @param output the number of tokens that the model writes
 */
public record ApiTokens(String model, BigDecimal input, BigDecimal output) {
  private static final String MODEL = "api_model";
  private static final String INPUT = "api_input_tokens";
  private static final String OUTPUT = "api_output_tokens";

  /**
   * Returns the most tokens that a data stage may use, all its tasks and attempts together; empty
   * if the stage uses no paid API.
   *
   * @param settings the settings of the stage's step
   */
  public static Optional<ApiTokens> limit(JsonObject settings) {
    return settings.optionalText("url").isEmpty()
        ? Optional.empty()
        : Optional.of(
            new ApiTokens(
                settings.text("model"),
                settings.decimal("max_input_tokens").setScale(0),
                settings.decimal("max_output_tokens").setScale(0)));
  }

  /**
   * Returns the most tokens that an approval's limits allow; empty if they name no model.
   *
   * @param limits an object that {@link #addTo} has filled
   */
  public static Optional<ApiTokens> ofApproved(JsonObject limits) {
    return limits.optionalText(MODEL).isEmpty()
        ? Optional.empty()
        : Optional.of(
            new ApiTokens(limits.text(MODEL), limits.decimal(INPUT), limits.decimal(OUTPUT)));
  }

  /** Adds these tokens to the limits of an approval. */
  public void addTo(JsonObject limits) {
    limits.with(MODEL, model).with(INPUT, input).with(OUTPUT, output);
  }

  /** Returns a phrase for people: {@code at most 10 input, 20 output of MODEL}. */
  public String words() {
    return "at most %s input, %s output of %s"
        .formatted(input.toPlainString(), output.toPlainString(), model);
  }
}
