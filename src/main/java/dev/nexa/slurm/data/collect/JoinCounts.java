package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * The results of a batch. Each request is answered, failed or missing.
 *
 * @param requests lines of the request files
 * @param answered requests with a success
 * @param failed requests with failures only
 * @param missing requests without a line
 * @param unreadable answer lines that are no JSON, for example because their writer was killed
 * @param unknown answer lines without a request
 * @param repeated answer lines of requests for which another line counts
 */
public record JoinCounts(
    long requests,
    long answered,
    long failed,
    long missing,
    long unreadable,
    long unknown,
    long repeated) {

  /** Adds the counts of lines that do not count. */
  public JsonObject addTo(JsonObject json) {
    return json.with("answers_unreadable", unreadable)
        .with("answers_without_request", unknown)
        .with("answers_repeated", repeated);
  }
}
