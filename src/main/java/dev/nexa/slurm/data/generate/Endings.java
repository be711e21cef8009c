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
    return new NexaException(
        ErrorCode.API_UNUSABLE,
        base + " cannot be reached: " + reason,
        Advice.step("check data.generate.url, and whether the nodes reach other networks"));
  }

  /**
   * Every request would be refused.
   *
   * @param id of the request that was refused first
   */
  static NexaException refused(URI address, String id, Reply reply) {
    boolean key = reply.status() == 401 || reply.status() == 403;
    return new NexaException(
        ErrorCode.API_UNUSABLE,
        address + " refuses request " + id + ": " + reply.reason(),
        Advice.step(
            key
                ? "check the key in env_file, and the variable that data.generate.api_key names"
                : "check data.generate.url and data.generate.model"),
        AGAIN);
  }

  /**
   * More requests failed than may fail.
   *
   * @param id of the request that failed last
   * @param log the file with the reasons
   */
  static NexaException tooManyFailed(
      long failed, int requests, double most, String id, Reply reply, Path log) {
    return new NexaException(
        ErrorCode.BATCH_INCOMPLETE,
        failed
            + " of "
            + requests
            + " requests failed; max_failed is "
            + most
            + ". The last one, "
            + id
            + ": "
            + reply.reason(),
        Advice.step("read the reasons in " + log),
        AGAIN);
  }

  static NexaException limitReached(long answered, int requests, Spent spent, Tokens limit) {
    Tokens paid = spent.paid();
    Tokens unknown = spent.unknown();
    return new NexaException(
        ErrorCode.TOKEN_LIMIT_REACHED,
        answered
            + " of "
            + requests
            + " requests have an answer, and the next one could pass the task's limit of tokens: paid are "
            + paid.input()
            + " input tokens of "
            + limit.input()
            + " and "
            + paid.output()
            + " output tokens of "
            + limit.output()
            + "; requests without a known end may have used "
            + unknown.input()
            + " and "
            + unknown.output()
            + " more",
        Advice.step(
            "raise max_input_tokens or max_output_tokens and submit the config again: answers in the"
                + " cache are not paid twice"));
  }
}
