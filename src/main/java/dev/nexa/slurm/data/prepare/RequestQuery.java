package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.prepare.PrepareSettings.Requests;
import dev.nexa.slurm.data.rows.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The lines that {@code vllm run-batch} reads: custom_id, method, url, body. */
final class RequestQuery {
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]+)}");

  private final PrepareSettings settings;
  private final Requests requests;

  RequestQuery(PrepareSettings settings) {
    this.settings = settings;
    this.requests = settings.requests().orElseThrow();
  }

  /** Returns the columns of the file. */
  String select() {
    String id =
        settings.id().isPresent()
            ? Source.name(settings.column(settings.id().get())) + "::VARCHAR"
            : "key";
    List<String> messages = new ArrayList<>();
    if (requests.system().isPresent()) {
      messages.add(message("system", filled(requests.system().get())));
    }
    messages.add(message("user", filled(requests.prompt())));
    String own =
        "json_object('model', "
            + Sql.text(requests.model())
            + ", 'messages', json_array("
            + String.join(", ", messages)
            + "))";
    String options = Sql.text(Json.compact(requests.options()));
    return id
        + " AS custom_id, 'POST' AS method, '/v1/chat/completions' AS url, json_merge_patch("
        + options
        + "::JSON, "
        + own
        + ") AS body";
  }

  private static String message(String role, String content) {
    return "json_object('role', " + Sql.text(role) + ", 'content', " + content + ")";
  }

  /** Returns SQL for a text in which {@code {column}} stands for a value. */
  private String filled(String template) {
    List<String> parts = new ArrayList<>();
    Matcher place = PLACE.matcher(template);
    int from = 0;
    while (place.find()) {
      String name = place.group(1);
      if (settings.columns().stream().anyMatch(column -> column.name().equals(name))) {
        parts.add(Sql.text(template.substring(from, place.start())));
        parts.add("coalesce(" + Source.name(settings.column(name)) + "::VARCHAR, '')");
        from = place.end();
      }
    }
    parts.add(Sql.text(template.substring(from)));
    return "concat(" + String.join(", ", parts) + ")";
  }
}
