package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads vLLM's answer to a request for log-probabilities, one position of the prompt at a time. The
 * whole answer has ten times as many bytes as the part that is kept.
 *
 * <p>{@code prompt_logprobs} has one element for each token of the prompt. The first element is
 * null. Each other element maps token ids to objects with a {@code logprob}. The request asks for
 * one more token, so {@code choices} has the tokens that can follow the prompt.
 */
final class LogprobsReader {
  private static final String POSITIONS = "prompt_logprobs";
  private static final String TOKEN = "token_id:";

  private final TopLogprobs found;
  private final JsonObject usage = new JsonObject();
  private final JsonObject error = new JsonObject();
  private Optional<JsonObject> choice = Optional.empty();
  private long positions;
  private Optional<String> problem = Optional.empty();

  private LogprobsReader(int top) {
    found = new TopLogprobs(top);
  }

  /**
   * Reads an answer with status 200.
   *
   * @param top the number of log-probabilities that were asked for, for each token
   * @return an answer whose body has {@code usage} and {@code logprobs}, or the reason why it has
   *     none
   */
  static Reply read(InputStream body, int top) {
    LogprobsReader reader = new LogprobsReader(top);
    Reader text = new InputStreamReader(body, StandardCharsets.UTF_8);
    try {
      JsonObject others =
          JsonStream.entries(text, List.of(POSITIONS, "usage", "choices", "error"), reader::take);
      return reader.reply(others);
    } catch (IllegalArgumentException broken) {
      String reason = "status 200 without a JSON object: " + broken.getMessage();
      return new Reply(Reply.Kind.CUT, 200, Optional.empty(), reason);
    }
  }

  private void take(String path, String name, @Nullable Object value) {
    switch (path) {
      case "usage" -> usage.with(name, value);
      case "error" -> error.with(name, value);
      case "choices" -> {
        if (choice.isEmpty() && value instanceof JsonObject first) {
          choice = Optional.of(first);
        }
      }
      default -> position(value);
    }
  }

  private void position(@Nullable Object value) {
    if (positions++ == 0 && value == null) {
      return;
    }
    if (!(value instanceof JsonObject entry)) {
      note("has no log-probabilities");
      return;
    }
    int[] ids = new int[entry.members().size()];
    float[] values = new float[ids.length];
    int count = 0;
    for (Map.Entry<String, @Nullable Object> token : entry.members().entrySet()) {
      values[count] = token.getValue() instanceof JsonObject one ? logprob(one) : Float.NaN;
      ids[count++] = id(token.getKey());
    }
    add(ids, values);
  }

  /**
   * Adds the entry after the prompt: the most probable tokens at the place of the generated token.
   */
  private void next() {
    Optional<List<JsonObject>> tokens =
        choice
            .flatMap(one -> one.optionalObject("logprobs"))
            .filter(one -> one.members().get("content") instanceof List<?> list && !list.isEmpty())
            .map(one -> one.objects("content").get(0).objects("top_logprobs"));
    if (tokens.isEmpty()) {
      note("has no log-probabilities");
      return;
    }
    int[] ids = new int[tokens.get().size()];
    float[] values = new float[ids.length];
    for (int i = 0; i < ids.length; i++) {
      String name = tokens.get().get(i).text("token");
      ids[i] = name.startsWith(TOKEN) ? id(name.substring(TOKEN.length())) : -1;
      values[i] = logprob(tokens.get().get(i));
    }
    add(ids, values);
  }

  private void add(int[] ids, float[] values) {
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || Float.isNaN(values[i])) {
        note("has an entry that is no token with its log-probability");
        return;
      }
    }
    try {
      found.add(ids, values);
    } catch (IllegalArgumentException few) {
      note(few.getMessage());
    }
  }

  private void note(@Nullable String what) {
    problem = problem.or(() -> Optional.of("position " + positions + " of the prompt " + what));
  }

  private static float logprob(JsonObject token) {
    return token.members().get("logprob") instanceof BigDecimal number
        ? number.floatValue()
        : Float.NaN;
  }

  private static int id(String text) {
    return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : -1;
  }

  private Reply reply(JsonObject others) {
    if (!error.isEmpty() || others.members().get("error") != null) {
      JsonObject body =
          new JsonObject().with("error", error.isEmpty() ? others.members().get("error") : error);
      String reason = "status 200 with an error: " + Reply.message(body);
      return new Reply(Reply.Kind.CUT, 200, Optional.of(body), reason);
    }
    JsonObject body = new JsonObject();
    if (!usage.isEmpty()) {
      body.with("usage", usage);
    }
    Optional<String> wrong = wrong(body);
    if (wrong.isPresent()) {
      return new Reply(Reply.Kind.FAILED, 200, Optional.of(body), wrong.get());
    }
    return new Reply(
        Reply.Kind.ANSWER, 200, Optional.of(body.with("logprobs", found.toJson())), "");
  }

  /** Returns why log-probabilities of the conversation are missing or wrong; empty if none are. */
  private Optional<String> wrong(JsonObject body) {
    if (positions == 0) {
      return Optional.of("the answer has no prompt_logprobs; only vLLM's server returns them");
    }
    if (problem.isEmpty()) {
      next();
    }
    if (problem.isPresent()) {
      return problem;
    }
    Optional<Long> tokens = Tokens.usage(body).map(Tokens::input);
    if (tokens.isPresent() && tokens.get() != positions) {
      return Optional.of(
          "prompt_logprobs has %s positions, but the prompt has %s tokens"
              .formatted(positions, tokens.get()));
    }
    if (found.size() != positions) {
      return Optional.of("the first position of prompt_logprobs is not null");
    }
    return found.characters() > Reply.LONGEST
        ? Optional.of(
            ("the log-probabilities of %s tokens are longer than %s bytes; lower logprobs, or"
                    + " leave long conversations out")
                .formatted(positions, Reply.LONGEST))
        : Optional.empty();
  }
}
