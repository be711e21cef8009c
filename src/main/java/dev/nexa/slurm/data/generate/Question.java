package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchRequest;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request in the form that is sent.
 *
 * @param path the path of the request's own line, such as {@code /v1/chat/completions}
 * @param body the body, which names the model that is asked
 */
record Question(String path, JsonObject body) {
  /** Returns the request with another model, if one is given. */
  static Question of(BatchRequest request, Optional<String> model) {
    if (model.isEmpty()) {
      return new Question(request.url(), request.body());
    }
    JsonObject body = new JsonObject();
    request.body().members().forEach(body::with);
    return new Question(request.url(), body.with("model", model.get()));
  }

  /** Returns the text of the body that is sent. */
  String text() {
    return Json.compact(body);
  }

  /**
   * Returns the SHA-256 of the server, the path and the body in 64 hex digits. Two bodies with
   * equal members have one digest, in any order and with numbers in any form.
   *
   * @param server the base URL; empty if answers are not kept beyond the run
   */
  String digest(String server) {
    return Sha256.of(server + "\n" + path + "\n" + Json.compact(canonical(body)));
  }

  private static @Nullable Object canonical(@Nullable Object value) {
    if (value instanceof JsonObject object) {
      JsonObject sorted = new JsonObject();
      new TreeMap<>(object.members())
          .forEach((name, member) -> sorted.with(name, canonical(member)));
      return sorted;
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Question::canonical).toList();
    }
    return value instanceof BigDecimal number && number.signum() != 0
        ? number.stripTrailingZeros()
        : value instanceof BigDecimal ? BigDecimal.ZERO : value;
  }

  /**
   * Returns the most tokens that the request may use. A token has at least one byte of text, and
   * the JSON around a message has more bytes than a chat template adds tokens. A picture behind an
   * address can have more.
   *
   * @return empty if the body does not limit its output
   */
  Optional<Tokens> most() {
    long input = text().getBytes(StandardCharsets.UTF_8).length;
    if (path.endsWith("/embeddings") || path.endsWith("/score") || path.endsWith("/rerank")) {
      return Optional.of(new Tokens(input, 0));
    }
    Optional<Long> each =
        number("max_completion_tokens")
            .or(() -> number("max_tokens"))
            .or(() -> number("max_output_tokens"));
    long texts = Math.max(number("n").orElse(1L), number("best_of").orElse(1L));
    return each.map(tokens -> new Tokens(input, tokens * texts * prompts()));
  }

  /** Returns the number of prompts: completions take a list of them. */
  private int prompts() {
    return body.members().get("prompt") instanceof List<?> list
            && !list.isEmpty()
            && !(list.get(0) instanceof BigDecimal)
        ? list.size()
        : 1;
  }

  private Optional<Long> number(String name) {
    return body.members().get(name) instanceof BigDecimal number
        ? Optional.of(number.min(BigDecimal.valueOf(Integer.MAX_VALUE)).longValue())
        : Optional.empty();
  }
}
