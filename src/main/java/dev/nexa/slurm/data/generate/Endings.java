package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.net.URI;
import java.nio.file.Path;

/** The failures that end the step before each request has an answer. */
final class Endings {
  private static final Advice AGAIN =
      Advice.step("run the task again, for example with rerun --failed: answers are kept");

  private Endings() {}

  static NexaException unreached(String base, String reason) {
    return ErrorCode.API_UNUSABLE.error(
        base + " cannot be reached: " + reason,
        "check data.generate.url, and whether the nodes reach other networks");
  }

  /**
   * Returns the error: every request would be refused.
   *
   * @param id of the request that was refused first
   */
  static NexaException refused(URI address, String id, Reply reply) {
    return ErrorCode.API_REFUSED.error(
        address + " refuses request " + id + ": " + reply.reason(),
        Advice.step(
            switch (reply.status()) {
              case 401, 403 ->
                  "check the key in env_file, and the variable that data.generate.api_key names";
              case 402, 429 -> "the account of the API is empty: pay, or use another key";
              default -> "check data.generate.url and data.generate.model";
            }),
        AGAIN);
  }

  /**
   * Returns the error: more requests failed than may fail.
   *
   * @param id of the request that failed last
   * @param log the file with the reasons
   */
  static NexaException tooManyFailed(
      long failed, int requests, double most, String id, Reply reply, Path log) {
    return ErrorCode.BATCH_INCOMPLETE.error(
        "%s of %s requests failed; max_failed is %s. The last one, %s: %s"
            .formatted(failed, requests, most, id, reply.reason()),
        Advice.step("the reasons are in the lines with \"failed\" in " + log),
        AGAIN);
  }

  /**
   * Returns the error: the next request could pass the task's limit.
   *
   * @param most the most tokens that the next request can use
   */
  static NexaException limitReached(
      long answered, int requests, Tokens most, Spent spent, Tokens limit) {
    Tokens left = limit.minus(spent.paid()).minus(spent.unknown());
    return ErrorCode.TOKEN_LIMIT_REACHED.error(
        ("%s of %s requests have an answer. The next request counts %s input tokens (the bytes of"
                + " its body) and %s output tokens. This task has %s of %s input tokens and %s of"
                + " %s output tokens left")
            .formatted(
                answered,
                requests,
                most.input(),
                most.output(),
                left.input(),
                limit.input(),
                left.output(),
                limit.output()),
        "raise "
            + (most.input() > left.input() ? "max_input_tokens" : "max_output_tokens")
            + " and submit the config again: answers in the cache are not paid twice");
  }
}
