package dev.nexa.slurm.config;

import dev.nexa.slurm.config.YamlNode.ScalarType;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.TimeLimit;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * What one scalar may be: how it is read, how it is told to a person, and its JSON Schema.
 *
 * @param expected in words, for an error message and the reference page
 * @param accepts the YAML types that may stand there
 * @param jsonTypes JSON Schema's types for it
 * @param pattern a regular expression for JSON Schema; empty for none
 * @param choices the allowed words; empty for any
 * @param parse from text to value; an IllegalArgumentException's message is told to the person
 */
record ValueType(
    String expected,
    Set<ScalarType> accepts,
    List<String> jsonTypes,
    String pattern,
    List<String> choices,
    Function<String, Object> parse)
    implements Shape {

  private static final Pattern INTEGER = Pattern.compile("0|-?[1-9][0-9]{0,17}");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?(0|[1-9][0-9]*)?(\\.[0-9]*)?([eE][-+]?[0-9]{1,3})?");
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

  /** Any text of one line. */
  static final ValueType TEXT = text("text", ".*");

  /**
   * A path of one line; {@code ${env:VAR}}, {@code ${workspace}} and the storage tiers may stand in
   * it.
   */
  static final ValueType PATH = text("a path", ".*");

  /** A short name without spaces: of a partition, an account, a profile. */
  static final ValueType NAME_WORD = text("a name of letters, digits, '.', '_' and '-'", NAME);

  /** A shell variable's value, an argument: any scalar, taken as it is written. */
  static final ValueType LITERAL =
      new ValueType(
          "a value",
          EnumSet.of(ScalarType.STRING, ScalarType.NUMBER, ScalarType.BOOLEAN),
          List.of("string", "number", "boolean"),
          "",
          List.of(),
          ValueType::oneLine);

  /** Text of any number of lines, also none. */
  static final ValueType FREE_TEXT =
      new ValueType(
          "text",
          EnumSet.of(ScalarType.STRING),
          List.of("string"),
          "",
          List.of(),
          ValueType::anyText);

  /** Several lines of shell. */
  static final ValueType SCRIPT =
      new ValueType(
          "shell text",
          EnumSet.of(ScalarType.STRING),
          List.of("string"),
          "",
          List.of(),
          ValueType::script);

  static final ValueType BOOLEAN =
      new ValueType(
          "true or false",
          EnumSet.of(ScalarType.BOOLEAN),
          List.of("boolean"),
          "",
          List.of(),
          text -> Boolean.valueOf(text.equals("true")));

  /** A time limit; a bare number is minutes, as in Slurm. */
  static final ValueType TIME =
      new ValueType(
          TimeLimit.FORMS,
          EnumSet.of(ScalarType.STRING, ScalarType.NUMBER),
          List.of("string", "integer"),
          "",
          List.of(),
          text -> TimeLimit.parse(unambiguous(text)));

  /** A memory size; a bare number is MiB, as in Slurm. */
  static final ValueType MEMORY =
      new ValueType(
          Memory.FORMS,
          EnumSet.of(ScalarType.STRING, ScalarType.NUMBER),
          List.of("string", "integer"),
          "",
          List.of(),
          text -> Memory.parse(unambiguous(text)));

  /** {@code 2026-11-01}. */
  static final ValueType DATE =
      new ValueType(
          "a date such as 2026-11-01",
          EnumSet.of(ScalarType.STRING),
          List.of("string"),
          "\\d{4}-\\d{2}-\\d{2}",
          List.of(),
          ValueType::date);

  /** An exact decimal number. */
  static final ValueType DECIMAL_NUMBER = decimal("a number", null);

  /** Money per unit, or an amount: never negative. */
  static final ValueType MONEY = decimal("an amount of money, zero or more", BigDecimal.ZERO);

  /**
   * Whether it is a path, in which every reference must be known. Not {@code equals}: a record's
   * own takes 10 ms when it is first called.
   */
  boolean isPath() {
    return parse == PATH.parse;
  }

  /** Whether it is text that may hold references among whatever else it holds. */
  boolean mayHoldReferences() {
    return parse == LITERAL.parse || parse == FREE_TEXT.parse;
  }

  /** A whole number within bounds. */
  static ValueType integer(int min, int max) {
    return new ValueType(
        "a whole number from " + min + " to " + max,
        EnumSet.of(ScalarType.NUMBER),
        List.of("integer"),
        "",
        List.of(),
        text -> integer(text, min, max));
  }

  /** One of a few words. */
  static ValueType choice(String... words) {
    List<String> choices = List.of(words);
    return new ValueType(
        "one of " + String.join(", ", choices),
        EnumSet.of(ScalarType.STRING),
        List.of("string"),
        "",
        choices,
        text -> oneOf(text, choices));
  }

  /** Text of a given form. */
  static ValueType text(String expected, String pattern) {
    // Any text may also hold U+2028, which is no control character but ends a line for '.'.
    Pattern form = Pattern.compile(pattern, Pattern.DOTALL);
    return new ValueType(
        expected,
        EnumSet.of(ScalarType.STRING),
        List.of("string"),
        pattern.equals(".*") ? "" : "^" + pattern + "$",
        List.of(),
        text -> matching(text, form, expected));
  }

  private static ValueType decimal(
      String expected, @org.jspecify.annotations.Nullable BigDecimal min) {
    return new ValueType(
        expected,
        EnumSet.of(ScalarType.NUMBER),
        List.of("number"),
        "",
        List.of(),
        text -> decimal(text, expected, min));
  }

  private static Object matching(String text, Pattern form, String expected) {
    oneLine(text);
    if (text.isEmpty() || !form.matcher(text).matches()) {
      throw new IllegalArgumentException("expected " + expected + ", got '" + text + "'");
    }
    return text;
  }

  private static Object oneOf(String text, List<String> choices) {
    if (choices.contains(text)) {
      return text;
    }
    throw new IllegalArgumentException(
        "expected one of "
            + String.join(", ", choices)
            + ", got '"
            + text
            + "'"
            + dev.nexa.slurm.error.Nearest.hint(text, choices));
  }

  private static Object integer(String text, int min, int max) {
    if (!INTEGER.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected a whole number in plain digits, without leading zeros or '_', got '"
              + text
              + "'");
    }
    long number = Long.parseLong(text);
    if (number < min || number > max) {
      throw new IllegalArgumentException(
          "expected a whole number from " + min + " to " + max + ", got " + text);
    }
    return (int) number;
  }

  private static Object decimal(
      String text, String expected, @org.jspecify.annotations.Nullable BigDecimal min) {
    if (text.length() > 40 || !DECIMAL.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected " + expected + " such as 0.5 or 2e-5, got '" + text + "'");
    }
    BigDecimal number = new BigDecimal(text);
    if (Math.abs((long) number.precision() - number.scale()) > 30 || number.scale() > 40) {
      throw new IllegalArgumentException(
          "expected " + expected + " of ordinary size, got '" + text + "'");
    }
    if (min != null && number.compareTo(min) < 0) {
      throw new IllegalArgumentException("expected " + expected + ", got " + text);
    }
    return number;
  }

  private static Object date(String text) {
    try {
      return LocalDate.parse(text);
    } catch (DateTimeParseException notADate) {
      throw new IllegalArgumentException(
          "expected a date such as 2026-11-01, got '" + text + "'", notADate);
    }
  }

  /** A number with a leading zero is octal to some readers of YAML. */
  private static String unambiguous(String text) {
    if (text.matches("0\\d+")) {
      throw new IllegalArgumentException("expected no leading zero, got '" + text + "'");
    }
    return text;
  }

  private static Object oneLine(String text) {
    wholeCharacters(text);
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        throw new IllegalArgumentException(
            String.format(
                "holds a control character (U+%04X): write it without", (int) text.charAt(i)));
      }
    }
    return text;
  }

  /** An escape such as \\uD83D alone has no bytes: it would reach the job as a question mark. */
  private static void wholeCharacters(String text) {
    text.codePoints()
        .filter(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
        .findFirst()
        .ifPresent(
            half -> {
              throw new IllegalArgumentException(
                  String.format("holds half of a character (U+%04X): write it whole", half));
            });
  }

  private static Object script(String text) {
    if (text.isBlank()) {
      throw new IllegalArgumentException("is empty");
    }
    return anyText(text);
  }

  private static Object anyText(String text) {
    wholeCharacters(text);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isISOControl(c) && c != '\n' && c != '\t') {
        throw new IllegalArgumentException(
            String.format(
                "holds a control character (U+%04X): only newlines and tabs may stand in it",
                (int) c));
      }
    }
    return text;
  }
}
