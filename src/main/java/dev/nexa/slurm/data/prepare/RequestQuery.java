package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchRequest;
import dev.nexa.slurm.data.collect.JsonLines;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.prepare.PrepareSettings.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The lines that {@code vllm run-batch} reads: custom_id, method, url, body. */
record RequestQuery(PrepareSettings settings, Requests requests) {
  private static final String URL = "/v1/chat/completions";
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]+)}");

  RequestQuery(PrepareSettings settings) {
    this(settings, settings.files().requests().orElseThrow());
  }

  /**
   * Checks that the step that sends the requests accepts the parts that all requests have.
   *
   * @throws NexaException if it does not; the message names the key
   */
  void require() {
    JsonObject body = new JsonObject();
    requests.options().members().forEach(body::with);
    body.with("model", requests.model())
        .with("messages", List.of(new JsonObject().with("role", "user").with("content", "")));
    String line = Json.compact(new BatchRequest("id", URL, body).json());
    List<String> problems = BatchRequest.problems(line);
    if (!problems.isEmpty()) {
      throw ErrorCode.DATA_INVALID.error(
          "data.prepare.requests: no request could be sent: " + String.join("; ", problems),
          "correct the keys of data.prepare.requests, then run the step again");
    }
  }

  /** Returns the query of the kept rows whose line would be too long to read. */
  String tooLong() {
    String line =
        "json_object('custom_id', %s, 'method', 'POST', 'url', '%s', 'body', %s)"
            .formatted(id(), URL, body());
    return ("SELECT n, strlen(line) || ' bytes' AS detail FROM (SELECT n, %s::VARCHAR AS line"
            + " FROM kept) WHERE strlen(line) > %s")
        .formatted(line, JsonLines.LONGEST);
  }

  private String id() {
    return settings.id().map(id -> settings.column(id) + "::VARCHAR").orElse("key");
  }

  /** Returns the columns of the file. */
  String select() {
    return id() + " AS custom_id, 'POST' AS method, '" + URL + "' AS url, " + body() + " AS body";
  }

  private String body() {
    List<String> messages = new ArrayList<>();
    requests.system().ifPresent(text -> messages.add(message("system", filled(text))));
    messages.add(message("user", filled(requests.prompt())));
    String own =
        "json_object('model', %s, 'messages', json_array(%s))"
            .formatted(Sql.text(requests.model()), String.join(", ", messages));
    String options = Sql.text(Json.compact(requests.options()));
    return "json_merge_patch(" + options + "::JSON, " + own + ")";
  }

  private static String message(String role, String content) {
    return "json_object('role', " + Sql.text(role) + ", 'content', " + content + ")";
  }

  /** Returns SQL for a template's text. The column's value replaces {@code {column}}. */
  private String filled(String template) {
    List<String> parts = new ArrayList<>();
    Matcher place = PLACE.matcher(template);
    int from = 0;
    while (place.find()) {
      String name = place.group(1);
      if (settings.columns().stream().anyMatch(column -> column.name().equals(name))) {
        parts.add(Sql.text(template.substring(from, place.start())));
        parts.add("coalesce(" + settings.column(name) + "::VARCHAR, '')");
        from = place.end();
      }
    }
    parts.add(Sql.text(template.substring(from)));
    return "concat(" + String.join(", ", parts) + ")";
  }
}
