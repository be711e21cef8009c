package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One line of a batch's input, as vLLM's {@code run-batch} and OpenAI's batch API read it.
 *
 * @param customId names the request; unique in a batch
 * @param url the path that the request is for, such as {@code /v1/chat/completions}
 * @param body the request itself
 */
public record BatchRequest(String customId, String url, JsonObject body) {
  private static final String CHAT = "/v1/chat/completions";
  private static final String COMPLETIONS = "/v1/completions";
  private static final Set<String> PATHS =
      Set.of(CHAT, COMPLETIONS, "/v1/embeddings", "/v1/responses");

  /**
   * Parses a line that {@link #problems} accepts.
   *
   * @throws IllegalArgumentException if it is no such line
   */
  public static BatchRequest parse(String line) {
    JsonObject json = Json.parseObject(line);
    return new BatchRequest(json.text("custom_id"), json.text("url"), json.object("body"));
  }

  /**
   * Returns the problems of a line; an empty list means that the line is right. vLLM stops the
   * whole batch at the first line that it cannot read.
   */
  public static List<String> problems(String line) {
    JsonObject json;
    try {
      json = Json.parseObject(line);
    } catch (IllegalArgumentException broken) {
      return List.of(reason(broken));
    }
    List<String> problems = new ArrayList<>();
    text(json, "custom_id", problems)
        .filter(String::isEmpty)
        .ifPresent(id -> problems.add("custom_id is empty"));
    text(json, "method", problems)
        .filter(method -> !method.equals("POST"))
        .ifPresent(method -> problems.add("method is \"" + method + "\"; expected \"POST\""));
    Optional<String> url = text(json, "url", problems);
    if (url.isPresent() && !known(url.get())) {
      problems.add(
          "url is \"" + url.get() + "\"; expected " + CHAT + Nearest.hint(url.get(), PATHS));
    }
    if (json.members().get("body") instanceof JsonObject body) {
      body(body, url.orElse(""), problems);
    } else {
      problems.add("body: expected an object");
    }
    return problems;
  }

  private static boolean known(String url) {
    return PATHS.contains(url) || url.endsWith("/score") || url.endsWith("/rerank");
  }

  private static void body(JsonObject body, String url, List<String> problems) {
    if (text(body, "model", problems).filter(String::isEmpty).isPresent()) {
      problems.add("body.model is empty");
    }
    if (url.equals(CHAT)) {
      messages(body.members().get("messages"), problems);
    }
    if (url.equals(COMPLETIONS) && body.members().get("prompt") == null) {
      problems.add("body.prompt is missing; " + COMPLETIONS + " needs it");
    }
    if (Boolean.TRUE.equals(body.members().get("stream"))) {
      problems.add("body.stream is true; a batch cannot stream");
    }
    for (String name : List.of("max_tokens", "max_completion_tokens", "n")) {
      Object value = body.members().get(name);
      if (value != null
          && !(value instanceof BigDecimal number
              && number.signum() > 0
              && number.stripTrailingZeros().scale() <= 0)) {
        problems.add("body." + name + ": expected a whole number of at least 1");
      }
    }
    Object temperature = body.members().get("temperature");
    if (temperature != null && !(temperature instanceof BigDecimal value && value.signum() >= 0)) {
      problems.add("body.temperature: expected a number of at least 0");
    }
  }

  private static void messages(@Nullable Object messages, List<String> problems) {
    if (!(messages instanceof List<?> list) || list.isEmpty()) {
      problems.add("body.messages: expected a list with at least one message");
      return;
    }
    for (int i = 0; i < list.size(); i++) {
      if (!(list.get(i) instanceof JsonObject message)
          || !(message.members().get("role") instanceof String)) {
        problems.add("body.messages[" + i + "]: expected an object with a role");
      }
    }
  }

  private static Optional<String> text(JsonObject json, String name, List<String> problems) {
    if (json.members().get(name) instanceof String text) {
      return Optional.of(text);
    }
    problems.add(
        (name.equals("model") ? "body.model" : name)
            + (json.members().containsKey(name) ? ": expected a string" : " is missing"));
    return Optional.empty();
  }

  /** Returns the object of a line that sends this request. */
  public JsonObject json() {
    return new JsonObject()
        .with("custom_id", customId)
        .with("method", "POST")
        .with("url", url)
        .with("body", body);
  }

  /** Returns why a text is no JSON object, in one line. */
  public static String reason(IllegalArgumentException broken) {
    String message = broken.getMessage() == null ? "not JSON" : broken.getMessage();
    // Jackson's message continues with a source excerpt, which is disabled.
    return message.split(" \\(start marker", 2)[0];
  }

  /**
   * Returns the question as one text: the prompt, or the last message of the user. Empty if it is
   * no text, such as a picture.
   */
  public Optional<String> prompt() {
    if (body.members().get("prompt") instanceof String prompt) {
      return Optional.of(prompt);
    }
    Optional<String> last = Optional.empty();
    if (body.members().get("messages") instanceof List<?> messages) {
      for (Object element : messages) {
        if (element instanceof JsonObject message && "user".equals(message.members().get("role"))) {
          last =
              message.members().get("content") instanceof String text
                  ? Optional.of(text)
                  : Optional.empty();
        }
      }
    }
    return last;
  }
}
