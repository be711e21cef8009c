package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The columns of the collected answers, and one row as JSON. */
public final class CollectedRow {
  private CollectedRow() {}

  /** Returns the columns in order, with their types in DuckDB. */
  public static Map<String, String> columns() {
    Map<String, String> columns = new LinkedHashMap<>();
    columns.put("custom_id", "VARCHAR");
    columns.put("choice", "INTEGER");
    columns.put("prompt", "VARCHAR");
    columns.put("completion", "VARCHAR");
    columns.put("reasoning", "VARCHAR");
    columns.put("finish_reason", "VARCHAR");
    columns.put("truncated", "BOOLEAN");
    columns.put("model", "VARCHAR");
    columns.put("prompt_tokens", "BIGINT");
    columns.put("completion_tokens", "BIGINT");
    columns.put("messages", "VARCHAR");
    return columns;
  }

  /** Returns a row. The messages are JSON as text; null if the request has none. */
  static JsonObject json(BatchRequest request, BatchAnswer answer, BatchAnswer.Choice choice) {
    Object messages = request.body().members().get("messages");
    return new JsonObject()
        .with("custom_id", request.customId())
        .with("choice", choice.index())
        .with("prompt", request.prompt().orElse(null))
        .with("completion", choice.text())
        .with("reasoning", choice.reasoning().orElse(null))
        .with("finish_reason", choice.finishReason().orElse(null))
        .with("truncated", choice.truncated())
        .with("model", answer.model().orElse(null))
        .with("prompt_tokens", answer.promptTokens().orElse(null))
        .with("completion_tokens", answer.completionTokens().orElse(null))
        .with("messages", messages instanceof List<?> ? Json.compact(messages) : null);
  }
}
