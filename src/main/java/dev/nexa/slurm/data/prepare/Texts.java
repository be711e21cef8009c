package dev.nexa.slurm.data.prepare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * SQL expressions about texts.
 *
 * <p>The language is a guess, by script and by stop words. It is good for whole paragraphs. A text
 * with too few stop words is {@code unknown}.
 */
public final class Texts {
  /**
   * Frequent short words, without accents. A word that two of these languages share is in neither.
   */
  private static final Map<String, String> STOP_WORDS = new LinkedHashMap<>();

  /** Scripts that one language has nearly for itself, in the order in which they are looked for. */
  private static final Map<String, String> SCRIPTS = new LinkedHashMap<>();

  static {
    STOP_WORDS.put(
        "en", "the|and|of|to|is|that|it|with|for|was|this|are|be|by|from|which|have|not");
    STOP_WORDS.put(
        "de", "der|die|und|das|ist|nicht|ein|eine|mit|von|auf|den|dem|sich|auch|zu|werden");
    STOP_WORDS.put("fr", "le|les|et|des|est|une|dans|qui|pour|pas|du|sur|avec|au|ce|sont|plus");
    STOP_WORDS.put("es", "el|los|las|y|del|una|por|con|como|pero|su|es|lo|muy|fue|este");
    STOP_WORDS.put("it", "il|di|che|gli|della|sono|per|non|una|nel|alla|anche|dei|questo|ma|si");
    STOP_WORDS.put("pt", "o|os|do|da|em|um|uma|dos|das|na|ao|mais|foi|pelo|seu|isso");
    STOP_WORDS.put(
        "nl", "het|een|van|zijn|niet|voor|aan|ook|maar|deze|wordt|bij|naar|dat|worden|heeft");
    SCRIPTS.put("ja", "[\\p{Hiragana}\\p{Katakana}]");
    SCRIPTS.put("zh", "\\p{Han}");
    SCRIPTS.put("ko", "\\p{Hangul}");
    SCRIPTS.put("ru", "\\p{Cyrillic}");
    SCRIPTS.put("ar", "\\p{Arabic}");
    SCRIPTS.put("he", "\\p{Hebrew}");
    SCRIPTS.put("el", "\\p{Greek}");
    SCRIPTS.put("hi", "\\p{Devanagari}");
    SCRIPTS.put("th", "\\p{Thai}");
  }

  /** The most characters that the guess looks at. */
  private static final int LOOKED_AT = 2000;

  private Texts() {}

  /** Returns the languages that can be told, and {@code unknown}. */
  public static List<String> languages() {
    ArrayList<String> all = new ArrayList<>(STOP_WORDS.keySet());
    all.addAll(SCRIPTS.keySet());
    all.add("unknown");
    return all;
  }

  /** Returns SQL for the text in NFC, with each run of white space as one space, trimmed. */
  static String normalized(String text) {
    // Most ASCII texts have single spaces only, which is six times faster to see than to replace.
    return "CASE WHEN regexp_matches("
        + text
        + ", '[\\x09-\\x0d]|  |[^\\x00-\\x7f]') THEN trim(regexp_replace(nfc_normalize("
        + text
        + "), '[\\s\\x0b\\x{85}\\pZ]+', ' ', 'g')) ELSE trim("
        + text
        + ") END";
  }

  /** Returns SQL for the text's words: lower case, without punctuation. */
  static String words(String text) {
    return "string_split(trim(regexp_replace(lower(" + text + "), '[^\\pL\\pN]+', ' ', 'g')), ' ')";
  }

  /** Returns SQL for the guessed language of a text. */
  static String language(String text) {
    String start = "left(" + text + ", " + LOOKED_AT + ")";
    StringBuilder sql = new StringBuilder("CASE");
    for (Map.Entry<String, String> script : SCRIPTS.entrySet()) {
      // Kana between many Han characters is enough for Japanese.
      String share = script.getKey().equals("ja") ? "10" : "2";
      sql.append(" WHEN ").append(count(start, script.getValue())).append(" * ").append(share);
      sql.append(" > ").append(count(start, "\\pL")).append(" AND ");
      sql.append(count(start, "\\pL")).append(" > 0 THEN '").append(script.getKey()).append("'");
    }
    // The struct with the most hits; among equals, the smaller name.
    StringBuilder hits = new StringBuilder("list_max([");
    String separator = "";
    for (Map.Entry<String, String> language : STOP_WORDS.entrySet()) {
      hits.append(separator).append("{n: ");
      hits.append(count("lower(" + start + ")", "\\b(?:" + language.getValue() + ")\\b"));
      hits.append(", l: '").append(language.getKey()).append("'}");
      separator = ", ";
    }
    hits.append("])");
    String words = count(start, "\\pL+");
    sql.append(" WHEN ").append(hits).append(".n >= greatest(2, ").append(words);
    sql.append(" // 20) THEN ").append(hits).append(".l ELSE 'unknown' END");
    return sql.toString();
  }

  private static String count(String text, String pattern) {
    return "len(regexp_extract_all(" + text + ", '" + pattern + "'))";
  }

  /**
   * Returns SQL for the distinct hashes of a list of words, taken n at a time. A shorter text has
   * one: of all its words.
   */
  static String ngrams(String words, int n) {
    return "list_distinct(list_transform(range(1, greatest(2, len("
        + words
        + ") - "
        + (n - 2)
        + ")), k -> hash(array_to_string("
        + words
        + "[k:k + "
        + (n - 1)
        + "], ' '))))";
  }
}
