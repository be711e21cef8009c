package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchRequest;
import dev.nexa.slurm.data.collect.JsonLines;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Column;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Files of conversations, as requests for the log-probabilities of their tokens. A conversation is
 * a row with {@code messages}: a list of {@code role} and {@code content} that ends with an answer.
 *
 * @param file the requests, one on each line; their ids are {@code FILE:ROW}
 * @param unusable the task's rows that are no conversation
 */
public record ConversationRequests(Path file, List<Unusable> unusable) {

  private static final Column MESSAGES = new Column("messages", Column.Type.JSON, false);

  /**
   * A row that is no conversation.
   *
   * @param place {@code FILE:ROW}, the row from 1
   */
  public record Unusable(String place, String why) {}

  /**
   * Reads files of conversations and writes their requests.
   *
   * @param input .parquet or .jsonl files, patterns or folders
   * @param scratch the folder for the requests; nothing else needs them
   * @param share decides which of the rows that are no conversation belong to the task
   * @throws NexaException if there is no file, a file lacks the column, or no model is named
   */
  public static ConversationRequests of(
      Engine engine, List<String> input, GenerateSettings settings, Path scratch, Share share) {
    if (settings.model().isEmpty()) {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "no model is named: a conversation does not name one",
          "write the model's name into the settings under model");
    }
    String model = settings.model().get();
    int top = settings.logprobs().orElseThrow();
    Source source = new Source(engine, List.of(MESSAGES), JsonLines.LONGEST);
    Path requests = scratch.resolve("requests.jsonl");
    Path rows = scratch.resolve("conversations.jsonl");
    List<Unusable> unusable = new ArrayList<>();
    try (StagedFile lines = new StagedFile(requests)) {
      for (InputFile file : InputFile.find(engine, input)) {
        source.open(file);
        engine.write(
            "SELECT r, bad, " + Source.name(0) + "::VARCHAR AS messages FROM source ORDER BY r",
            rows,
            "FORMAT json");
        JsonLines.read(
            rows,
            line -> {
              // A line that is too long has no text. Its line number is its row.
              String place = file.path() + ":" + line.number();
              Optional<String> bad = line.problem();
              JsonObject row = bad.isPresent() ? new JsonObject() : Json.parseObject(line.text());
              List<JsonObject> messages = new ArrayList<>();
              Optional<String> why =
                  bad.or(() -> row.optionalText("bad")).or(() -> read(row, messages));
              if (why.isEmpty()) {
                lines.line(Json.compact(request(place, model, messages, top)));
              } else if (share.has(Sha256.of(place))) {
                unusable.add(new Unusable(place, why.get()));
              }
            });
      }
      source.close();
      lines.commit();
    }
    return new ConversationRequests(requests, unusable);
  }

  /** Reads the messages of a row and returns why they are no conversation; empty if they are. */
  private static Optional<String> read(JsonObject row, List<JsonObject> into) {
    JsonObject json;
    try {
      json = Json.parseObject("{\"messages\":" + row.text("messages") + "}");
    } catch (IllegalArgumentException broken) {
      return Optional.of("messages: " + broken.getMessage());
    }
    if (!(json.members().get("messages") instanceof List<?> list) || list.isEmpty()) {
      return Optional.of("messages is no list of messages");
    }
    for (Object one : list) {
      int number = into.size() + 1;
      if (!(one instanceof JsonObject message)
          || !(message.members().get("role") instanceof String role)
          || !(message.members().get("content") instanceof String content)) {
        return Optional.of("message " + number + " has no role and content that are texts");
      }
      for (Map.Entry<String, @Nullable Object> member : message.members().entrySet()) {
        if (!List.of("role", "content").contains(member.getKey()) && member.getValue() != null) {
          return Optional.of(
              "message %s has '%s'; only role and content are read"
                  .formatted(number, member.getKey()));
        }
      }
      into.add(new JsonObject().with("role", role).with("content", content));
    }
    String last = into.get(into.size() - 1).text("role");
    return last.equals("assistant")
        ? Optional.empty()
        : Optional.of("the last message is of '" + last + "', not of 'assistant'");
  }

  /**
   * The request also asks for one generated token, which shows the tokens that can follow the
   * conversation's last token.
   */
  private static JsonObject request(String id, String model, List<JsonObject> messages, int top) {
    JsonObject body =
        new JsonObject()
            .with("model", model)
            .with("messages", messages)
            .with("add_generation_prompt", false)
            .with("prompt_logprobs", top)
            .with("max_tokens", 1)
            .with("temperature", 0)
            .with("logprobs", true)
            .with("top_logprobs", top)
            .with("return_tokens_as_token_ids", true);
    return new BatchRequest(id, "/v1/chat/completions", body).json();
  }
}
