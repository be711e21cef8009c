package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.JsonLines;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The result of one try.
 *
 * @param kind the consequence of the result
 * @param status the HTTP status; 0 if there is no response
 * @param body the response's JSON; empty if it is no JSON object
 * @param reason says in one line why it is no answer; empty for an answer
 */
record Reply(Kind kind, int status, Optional<JsonObject> body, String reason) {
  /** The consequence of a try's result. */
  enum Kind {
    /** The answer counts. */
    ANSWER,
    /** The server cannot answer this request, today or later. */
    FAILED,
    /** The server did no work for it; another try may succeed. */
    AGAIN,
    /** Another try may succeed, but the server may have charged this try. */
    CUT,
    /** No server was reached. */
    UNREACHED,
    /** No request can succeed: a wrong key, model or URL, or an empty account. */
    REFUSED
  }

  /** Longer answers could not be read again as a line. */
  static final int LONGEST = JsonLines.LONGEST - (1 << 16);

  private static final Set<Integer> REFUSALS = Set.of(401, 402, 403, 404, 405);
  private static final Set<Integer> LATER = Set.of(408, 409, 425, 429);

  /** Codes of OpenAI's errors with status 429 that no later try gets past. */
  private static final Set<String> SPENT =
      Set.of("insufficient_quota", "billing_hard_limit_reached", "billing_not_active");

  /** Returns a try without a response. */
  static Reply without(Kind kind, String reason) {
    return new Reply(kind, 0, Optional.empty(), reason);
  }

  /**
   * Reads a response.
   *
   * @param text its body
   */
  static Reply of(int status, String text) {
    Optional<JsonObject> body = parse(text);
    if (status == 200) {
      return ok(body, text);
    }
    String reason = "status " + status + ": " + body.map(Reply::message).orElse(shortened(text));
    boolean spent = status == 429 && body.map(Reply::code).filter(SPENT::contains).isPresent();
    boolean refused = REFUSALS.contains(status) || spent || (status >= 300 && status < 400);
    boolean later = LATER.contains(status) || status >= 500;
    Kind kind = refused ? Kind.REFUSED : later ? Kind.AGAIN : Kind.FAILED;
    return new Reply(kind, status, body, reason);
  }

  private static Reply ok(Optional<JsonObject> body, String text) {
    if (body.isEmpty()) {
      return new Reply(Kind.CUT, 200, body, "status 200 without a JSON object: " + shortened(text));
    }
    if (body.get().members().get("error") != null) {
      return new Reply(Kind.CUT, 200, body, "status 200 with an error: " + message(body.get()));
    }
    if (text.length() > LONGEST) {
      return new Reply(
          Kind.FAILED, 200, Optional.empty(), "the answer is longer than " + LONGEST + " bytes");
    }
    return new Reply(Kind.ANSWER, 200, body, "");
  }

  /** Returns the tokens that the response reports; empty if it does not. */
  Optional<Tokens> usage() {
    return body.flatMap(Tokens::usage);
  }

  private static Optional<JsonObject> parse(String text) {
    try {
      return Optional.of(Json.parseObject(text));
    } catch (IllegalArgumentException broken) {
      return Optional.empty();
    }
  }

  /**
   * Returns the message of an error's body. Servers nest errors as OpenAI does, or write them flat,
   * as older vLLM and proxies do.
   */
  static String message(JsonObject body) {
    Object error = body.members().getOrDefault("error", body);
    Object message = error instanceof JsonObject object ? object.members().get("message") : error;
    return shortened(message instanceof String text ? text : Json.compact(error));
  }

  private static String code(JsonObject body) {
    @Nullable Object code =
        body.members().get("error") instanceof JsonObject error
            ? error.members().getOrDefault("code", error.members().get("type"))
            : null;
    return code instanceof String text ? text : "";
  }

  private static String shortened(String text) {
    String line = text.strip().replaceAll("\\s+", " ");
    return line.length() <= 300 ? line : line.substring(0, 300) + "…";
  }
}
