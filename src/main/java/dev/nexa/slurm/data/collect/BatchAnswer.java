package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One line of a batch's output, as vLLM's {@code run-batch} and OpenAI's batch API write it.
 *
 * @param customId names the request
 * @param choices the texts that the model gave, one for each of the request's {@code n}; empty if
 *     the request failed
 * @param failure why the request has no answer; empty if it has one
 * @param model that answered; empty if the line does not say
 * @param promptTokens and {@code completionTokens} are empty if the line does not say
 */
public record BatchAnswer(
    String customId,
    List<Choice> choices,
    Optional<String> failure,
    Optional<String> model,
    Optional<BigDecimal> promptTokens,
    Optional<BigDecimal> completionTokens) {
  /**
   * One text of the model.
   *
   * @param index its place among the request's texts, from 0
   * @param reasoning what a reasoning model wrote before the text; empty if nothing
   * @param finishReason why the model stopped; {@code length} if it was cut
   */
  public record Choice(
      int index, String text, Optional<String> reasoning, Optional<String> finishReason) {
    /** Returns whether the limit of tokens cut the text. */
    public boolean truncated() {
      return finishReason.filter("length"::equals).isPresent();
    }
  }

  /** Returns whether the request has an answer. */
  public boolean succeeded() {
    return failure.isEmpty();
  }

  /**
   * Parses a line.
   *
   * @throws IllegalArgumentException if the line is no JSON object with a {@code custom_id}, for
   *     example because the writer was killed in the middle of it
   */
  public static BatchAnswer parse(String line) {
    JsonObject json = Json.parseObject(line);
    String id = json.text("custom_id");
    Optional<String> error = error(json.members().get("error"));
    if (error.isPresent()) {
      return failed(id, error.get());
    }
    Optional<JsonObject> response = json.optionalObject("response");
    if (response.isEmpty()) {
      return failed(id, "the line has neither a response nor an error");
    }
    Object status = response.get().members().get("status_code");
    Optional<JsonObject> body = response.get().optionalObject("body");
    if (!(status instanceof BigDecimal number) || number.compareTo(BigDecimal.valueOf(200)) != 0) {
      String message = body.flatMap(it -> error(it.members().get("error"))).orElse("no message");
      return failed(id, "status " + Json.compact(status) + ": " + message);
    }
    return body.map(it -> answered(id, it)).orElseGet(() -> failed(id, "the response has no body"));
  }

  private static BatchAnswer failed(String id, String reason) {
    return new BatchAnswer(
        id, List.of(), Optional.of(reason), Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static BatchAnswer answered(String id, JsonObject body) {
    List<Choice> choices = new ArrayList<>();
    String without = "the body has no choices";
    if (body.members().get("choices") instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        Optional<Choice> choice = choice(list.get(i), i);
        choice.ifPresent(choices::add);
        if (choice.isEmpty()) {
          without = "choice " + i + " has no text" + finish(list.get(i));
        }
      }
    }
    if (choices.isEmpty()) {
      return failed(id, without);
    }
    Optional<JsonObject> usage = body.optionalObject("usage");
    return new BatchAnswer(
        id,
        choices,
        Optional.empty(),
        string(body, "model"),
        usage.flatMap(it -> number(it, "prompt_tokens")),
        usage.flatMap(it -> number(it, "completion_tokens")));
  }

  private static Optional<Choice> choice(@Nullable Object element, int place) {
    if (!(element instanceof JsonObject choice)) {
      return Optional.empty();
    }
    Optional<JsonObject> message = choice.optionalObject("message");
    Optional<String> text =
        message.map(it -> string(it, "content")).orElseGet(() -> string(choice, "text"));
    Optional<String> reasoning =
        message.flatMap(it -> string(it, "reasoning_content").or(() -> string(it, "reasoning")));
    int index = number(choice, "index").orElse(BigDecimal.valueOf(place)).intValue();
    return text.map(it -> new Choice(index, it, reasoning, string(choice, "finish_reason")));
  }

  private static String finish(@Nullable Object element) {
    Optional<String> reason =
        element instanceof JsonObject choice ? string(choice, "finish_reason") : Optional.empty();
    return reason.map(it -> " (finish_reason " + it + ")").orElse("");
  }

  /**
   * Returns the message of an error: a text, or an object {@code {message, type, param, code}},
   * which may lie in another object under {@code error}. Empty for null.
   */
  private static Optional<String> error(@Nullable Object error) {
    if (error instanceof JsonObject object) {
      JsonObject inner = object.optionalObject("error").orElse(object);
      Optional<String> code =
          number(inner, "code").map(BigDecimal::toPlainString).or(() -> string(inner, "code"));
      return Optional.of(
          code.map(it -> it + ": ").orElse("")
              + string(inner, "message").orElseGet(() -> Json.compact(inner)));
    }
    return Optional.ofNullable(error)
        .map(it -> it instanceof String text ? text : Json.compact(it))
        .map(text -> text.isBlank() ? "an error without a message" : text);
  }

  private static Optional<String> string(JsonObject json, String name) {
    return json.members().get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  private static Optional<BigDecimal> number(JsonObject json, String name) {
    return json.members().get(name) instanceof BigDecimal number
        ? Optional.of(number)
        : Optional.empty();
  }
}
