package dev.nexa.slurm.data.filter;

import dev.nexa.slurm.data.rows.Source;

/**
 * Rows as conversations: one column {@code messages}, a list of {@code role} and {@code content},
 * that ends with the answer. TRL and axolotl train on files of this form (TRL's "conversational
 * language modeling", axolotl's {@code chat_template}).
 *
 * @param asked the SQL of the messages that were sent, as JSON; NULL if a row has none
 * @param prompt the SQL of the prompt of a row without messages
 * @param answer the SQL of the answer
 */
record Conversations(String asked, String prompt, String answer) {
  /** The first part of the files' names. */
  static final String STEM = "conversations";

  private static final String TYPE = "'[{\"role\":\"VARCHAR\",\"content\":\"VARCHAR\"}]'";

  /** Returns the conversations of rows with the columns that {@code data collect} writes. */
  static Conversations of(FilterSettings settings) {
    return new Conversations(
        settings.has("messages") ? json(column(settings, "messages")) : "NULL::JSON",
        settings.has("prompt") ? column(settings, "prompt") : "NULL",
        column(settings, "completion"));
  }

  /** A text that is no JSON becomes an object, which is no list of messages. */
  private static String json(String column) {
    return "CASE WHEN "
        + column
        + " IS NOT NULL THEN CASE WHEN json_valid("
        + column
        + "::VARCHAR) THEN "
        + column
        + "::JSON ELSE '{}'::JSON END END";
  }

  private static String column(FilterSettings settings, String name) {
    return Source.name(settings.column(name));
  }

  /** Returns the column of the conversation, for SELECT. */
  String messages() {
    return "list_append(CASE WHEN "
        + asked
        + " IS NULL THEN [{'role': 'user', 'content': "
        + prompt
        + "}] ELSE from_json("
        + asked
        + ", "
        + TYPE
        + ") END, {'role': 'assistant', 'content': "
        + answer
        + "}) AS messages";
  }

  /** Returns the query for rows that are no conversation of texts, with what they lack. */
  String unusable() {
    String roles = "json_type(" + asked + ", '$[*].role')";
    String contents = "json_type(" + asked + ", '$[*].content')";
    String texts = "len(list_filter(%s, x -> x = 'VARCHAR')) IS DISTINCT FROM json_array_length(";
    return "SELECT * FROM (SELECT n, CASE WHEN "
        + answer
        + " IS NULL THEN 'no completion' WHEN "
        + asked
        + " IS NULL THEN CASE WHEN "
        + prompt
        + " IS NULL THEN 'no messages and no prompt' END WHEN json_array_length("
        + asked
        + ") = 0 THEN 'messages is no list of messages' WHEN "
        + texts.formatted(roles)
        + asked
        + ") OR "
        + texts.formatted(contents)
        + asked
        + ") THEN 'a message without a role and a text' END AS detail FROM kept)"
        + " WHERE detail IS NOT NULL";
  }
}
