package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.Optional;

/**
 * The progress of a task.
 *
 * @param requests of the task
 * @param answered requests with an answer, also from the cache
 * @param failed requests that failed for good
 * @param cached requests with an answer that another run or task got
 * @param paid the tokens of all attempts of the task
 * @param unknown the most tokens that tries without a known end may have used
 * @param unknownTries the number of tries without a known end
 */
record GenerateProgress(
    long requests,
    long answered,
    long failed,
    long cached,
    Tokens paid,
    Tokens unknown,
    long unknownTries) {
  /**
   * Returns the metrics: rows_in = rows_out + rows_rejected + rows_missing.
   *
   * @param charged whether the server charges for tokens
   */
  JsonObject metrics(boolean charged, Optional<String> model) {
    JsonObject metrics =
        new JsonObject()
            .with("rows_in", requests)
            .with("rows_out", answered)
            .with("rows_rejected", failed)
            .with("rows_missing", requests - answered - failed)
            .with("answers_cached", cached);
    if (!charged) {
      return metrics.with("prompt_tokens", paid.input()).with("completion_tokens", paid.output());
    }
    return metrics
        .withOptional("api_model", model.filter(name -> !name.isEmpty()))
        .with("api_input_tokens", paid.input())
        .with("api_output_tokens", paid.output())
        .with("api_unknown_requests", unknownTries)
        .with("api_unknown_input_tokens", unknown.input())
        .with("api_unknown_output_tokens", unknown.output());
  }

  String line() {
    return "%s of %s requests have an answer, %s failed; %s input and %s output tokens so far"
        .formatted(answered, requests, failed, paid.input(), paid.output());
  }
}
