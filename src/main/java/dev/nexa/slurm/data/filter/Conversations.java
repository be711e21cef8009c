package dev.nexa.slurm.data.filter;

import java.util.Optional;

/**
 * Rows as conversations: one column {@code messages}, a list of {@code role} and {@code content},
 * that ends with the answer. TRL and axolotl train on files of this form (TRL's "conversational
 * language modeling", axolotl's {@code chat_template}).
 *
 * @param asked the SQL of the messages that were sent, as JSON; empty if the rows have none
 * @param prompt the SQL of the prompt of a row without messages
 * @param answer the SQL of the answer
 */
record Conversations(Optional<String> asked, String prompt, String answer) {
  /** The first part of the files' names. */
  static final String STEM = "conversations";

  private static final String TYPE = "'[{\"role\":\"VARCHAR\",\"content\":\"VARCHAR\"}]'";

  /** Returns the conversations of rows with the columns that {@code data collect} writes. */
  static Conversations of(FilterSettings settings) {
    return new Conversations(
        settings.has("messages")
            ? Optional.of(json(settings.column("messages")))
            : Optional.empty(),
        settings.has("prompt") ? settings.column("prompt") : "NULL",
        settings.column("completion"));
  }

  /** A text that is no JSON becomes an object, which is no list of messages. */
  private static String json(String column) {
    return ("CASE WHEN %s IS NOT NULL THEN CASE WHEN json_valid(%s::VARCHAR) THEN %s::JSON ELSE"
            + " '{}'::JSON END END")
        .formatted(column, column, column);
  }

  /** Returns the column of the conversation, for SELECT. */
  String messages() {
    String alone = "[{'role': 'user', 'content': " + prompt + "}]";
    String begin =
        asked
            .map(
                sent ->
                    "CASE WHEN %s IS NULL THEN %s ELSE from_json(%s, %s) END"
                        .formatted(sent, alone, sent, TYPE))
            .orElse(alone);
    return "list_append(%s, {'role': 'assistant', 'content': %s}) AS messages"
        .formatted(begin, answer);
  }

  /** Returns the query for rows that are no conversation of texts, with what they lack. */
  String unusable() {
    String alone = "CASE WHEN " + prompt + " IS NULL THEN 'no messages and no prompt' END";
    String wrong =
        asked
            .map(sent -> "CASE WHEN " + sent + " IS NULL THEN " + alone + wrong(sent) + " END")
            .orElse(alone);
    return ("SELECT * FROM (SELECT n, CASE WHEN %s IS NULL THEN 'no completion' ELSE %s END AS"
            + " detail FROM kept) WHERE detail IS NOT NULL")
        .formatted(answer, wrong);
  }

  private static String wrong(String sent) {
    String texts =
        "len(list_filter(json_type(%s, '$[*].%s'), x -> x = 'VARCHAR')) IS DISTINCT FROM"
            + " json_array_length(%s)";
    return (" WHEN json_array_length(%s) = 0 THEN 'messages is no list of messages' WHEN %s OR %s"
            + " THEN 'a message without a role and a text'")
        .formatted(
            sent, texts.formatted(sent, "role", sent), texts.formatted(sent, "content", sent));
  }
}
