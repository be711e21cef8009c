package dev.nexa.slurm.data.prepare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * SQL expressions about texts.
 *
 * <p>The language is a guess, by script and by stop words. It is good for whole paragraphs. A text
 * with too few stop words is {@code unknown}.
 */
public final class Texts {
  /**
   * For each language its frequent short words without accents. If two of these languages share a
   * word, no list has the word.
   */
  private static final Map<String, String> STOP_WORDS = new LinkedHashMap<>();

  /** Scripts that nearly only one language uses, in the order of the search. */
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

  /** SQL for {@link #wordHashes} of a text without a word. */
  static final String NO_WORDS = "[hash('')]";

  private Texts() {}

  /** White space, and white space other than a space: RE2 has no difference of two classes. */
  private static final String WHITE = "[\\s\\x0b\\x{85}\\pZ]";

  private static final String OTHER_WHITE =
      "[\\t-\\r\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}]";

  /** Returns SQL for the text in NFC, with each run of white space as one space, trimmed. */
  static String normalized(String text) {
    // Most ASCII texts have single spaces only. To check that is six times faster than to replace.
    return ("CASE WHEN regexp_matches(%s, '[\\x09-\\x0d]|  |[^\\x00-\\x7f]') THEN %s ELSE"
            + " trim(%s) END")
        .formatted(text, spaced("nfc_normalize(" + text + ")", OTHER_WHITE, WHITE), text);
  }

  /** Returns SQL for the text's words: lower case, without punctuation. */
  static String words(String text) {
    return "string_split(%s, ' ')"
        .formatted(spaced("lower(" + text + ")", "[^\\pL\\pN ]", "[^\\pL\\pN]"));
  }

  /**
   * Returns SQL for a text with each run of characters as one space, trimmed. A run that is one
   * space already is not replaced, which saves most of the time.
   *
   * @param others the class of the characters without the space
   * @param all the class of the characters
   */
  private static String spaced(String text, String others, String all) {
    String runs = others + all + "*| " + all + "+";
    return "trim(regexp_replace(" + text + ", '" + runs + "', ' ', 'g'))";
  }

  /** Returns SQL for the guessed language of a text. */
  static String language(String text) {
    String start = "left(" + text + ", " + LOOKED_AT + ")";
    StringBuilder sql = new StringBuilder("CASE");
    String letters = count(start, "\\pL");
    SCRIPTS.forEach(
        (name, script) -> {
          // Kana between many Han characters is enough for Japanese.
          sql.append(
              " WHEN " + count(start, script) + (name.equals("ja") ? " * 10 > " : " * 2 > "));
          sql.append(letters + " AND " + letters + " > 0 THEN '" + name + "'");
        });
    // The struct with the most hits; among equals, the smaller name.
    List<String> hits = new ArrayList<>();
    STOP_WORDS.forEach(
        (name, words) -> {
          String found = count("lower(" + start + ")", "\\b(?:" + words + ")\\b");
          hits.add("{n: " + found + ", l: '" + name + "'}");
        });
    String most = "list_max([" + String.join(", ", hits) + "])";
    return "%s WHEN %s.n >= greatest(2, %s // 20) THEN %s.l ELSE 'unknown' END"
        .formatted(sql, most, count(start, "\\pL+"), most);
  }

  private static String count(String text, String pattern) {
    return "len(regexp_extract_all(" + text + ", '" + pattern + "'))";
  }

  /** Returns SQL for the hashes of the text's words, in their order. */
  static String wordHashes(String text) {
    return "list_transform(" + words(text) + ", w -> hash(w))";
  }

  /**
   * Returns SQL for the hashes of all n-grams of words; equal n-grams have equal hashes. A text
   * with fewer words has one n-gram: all its words.
   *
   * @param hashes the name of a column with {@link #wordHashes}
   */
  static String ngrams(String hashes, int n) {
    // If a lambda reads another list than its own, it copies that list for each element.
    String shifted =
        IntStream.rangeClosed(1, n)
            .mapToObj(i -> hashes + "[" + i + ":]")
            .collect(Collectors.joining(", "));
    return ("CASE WHEN len(%s) < %s THEN [hash(%s)] ELSE list_transform(list_zip(%s, true), g ->"
            + " hash(g)) END")
        .formatted(hashes, n, hashes, shifted);
  }
}
