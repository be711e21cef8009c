package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The type of a scalar: how it is parsed, described to users, and written as JSON Schema.
 *
 * @param kind how its text is parsed
 * @param expected its description, for error messages and the reference page
 * @param accepts the YAML types that it accepts
 * @param jsonTypes its types in JSON Schema
 * @param pattern a regular expression for the whole text; empty for none
 * @param choices the allowed words; empty for any
 * @param min the least number; null for none
 * @param max the greatest number; null for none
 */
public record ValueType(
    Kind kind,
    String expected,
    Set<ScalarType> accepts,
    List<String> jsonTypes,
    String pattern,
    List<String> choices,
    @Nullable BigDecimal min,
    @Nullable BigDecimal max)
    implements Schema {

  /** How a text is parsed. */
  private enum Kind {
    TEXT,
    PATH,
    CHOICE,
    LITERAL,
    FREE_TEXT,
    SCRIPT,
    BOOLEAN,
    INTEGER,
    DECIMAL,
    DATE,
    TIME,
    LENGTH,
    MEMORY,
    SIZE,
    NODE_MEMORY
  }

  private static final Pattern INTEGER = Pattern.compile("0|-?[1-9][0-9]{0,17}");
  private static final Pattern DECIMAL =
      Pattern.compile("[-+]?(0|[1-9][0-9]*)?(\\.[0-9]*)?([eE][-+]?[0-9]{1,3})?");
  private static final Set<ScalarType> TEXT_OR_NUMBER =
      EnumSet.of(ScalarType.STRING, ScalarType.NUMBER);
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";

  /** Any text of one line, not empty. */
  public static final ValueType TEXT = of(Kind.TEXT, "text", ScalarType.STRING, "string");

  /**
   * A path of one line. It may contain {@code ${env:VAR}}, {@code ${workspace}} and the storage
   * tiers.
   */
  public static final ValueType PATH = of(Kind.PATH, "a path", ScalarType.STRING, "string");

  /** Names of nodes in Slurm's notation. */
  public static final ValueType HOSTLIST =
      text("nodes such as n1 or n[1-4,7]", "[A-Za-z0-9][A-Za-z0-9._,\\[\\]-]{0,1022}");

  /** A short name without spaces, such as the name of a partition, an account or a profile. */
  public static final ValueType NAME_WORD =
      text("a name of letters, digits, '.', '_' and '-'", NAME);

  /** The name of an account of Slurm: also {@code six@v100}, as some sites have them. */
  public static final ValueType ACCOUNT =
      text(
          "an account's name of letters, digits, '.', '_', '-' and '@'",
          "[A-Za-z0-9][A-Za-z0-9._@-]{0,62}");

  /** The name of a job's partition, or several with commas between, as sbatch takes them. */
  public static final ValueType PARTITION =
      text("a partition's name, or several such as gpu,long", NAME + "(?:," + NAME + "){0,15}");

  /** The name of a dataset in reports. People write the path of the data there. */
  public static final ValueType DATASET_NAME =
      text("a name of letters, digits, '.', '_' and '-' (dataset_path takes a path)", NAME);

  /** The URL of an object store. */
  public static final ValueType STORE_URL =
      text("a URL such as https://minio.example.org:9000", "https?://[^\\s@]+");

  /** The storage class of objects. */
  public static final ValueType STORAGE_CLASS =
      text("a storage class such as STANDARD_IA", "[A-Z0-9_]{1,40}");

  /** A value of a variable, or an argument: the text of any scalar. */
  public static final ValueType LITERAL =
      of(
          Kind.LITERAL,
          "a value",
          EnumSet.of(ScalarType.STRING, ScalarType.NUMBER, ScalarType.BOOLEAN),
          "",
          "string",
          "number",
          "boolean");

  /** A name of one line that another program checks. */
  static final ValueType ANY_NAME = of(Kind.TEXT, "a name", ScalarType.STRING, "string");

  /** Text of any number of lines; may be empty. */
  static final ValueType FREE_TEXT = of(Kind.FREE_TEXT, "text", ScalarType.STRING, "string");

  /** Shell text of one or more lines, not blank. */
  public static final ValueType SCRIPT = of(Kind.SCRIPT, "shell text", ScalarType.STRING, "string");

  public static final ValueType BOOLEAN =
      of(Kind.BOOLEAN, "true or false", ScalarType.BOOLEAN, "boolean");

  /**
   * A limit that Slurm keeps, as a Duration in whole minutes. A bare number counts minutes, as in
   * Slurm.
   */
  public static final ValueType TIME = quantity(Kind.TIME, TimeLimit.FORMS);

  /** Another length of time, as a Duration to the second. A bare number counts minutes, too. */
  public static final ValueType LENGTH = quantity(Kind.LENGTH, TimeLimit.EXACT_FORMS);

  /** A memory size in bytes, as a Long. A bare number counts MiB, as in slurm.conf. */
  public static final ValueType MEMORY = quantity(Kind.MEMORY, Memory.FORMS);

  /**
   * A memory size in bytes, as a Long. It needs a unit: for a bare number, people expect GiB and
   * Slurm counts MiB.
   */
  public static final ValueType SIZE =
      of(Kind.SIZE, Memory.FORMS_WITH_UNIT, TEXT_OR_NUMBER, "", "string");

  /** The memory of a job on a node, as {@link #SIZE}; 0 for {@code all}. */
  public static final ValueType NODE_MEMORY =
      of(
          Kind.NODE_MEMORY,
          Memory.FORMS_WITH_UNIT + "; or all of the node's",
          TEXT_OR_NUMBER,
          "",
          "string");

  /** A date such as {@code 2026-11-01}, as a LocalDate. */
  public static final ValueType DATE =
      of(
          Kind.DATE,
          "a date such as 2026-11-01",
          EnumSet.of(ScalarType.STRING),
          "\\d{4}-\\d{2}-\\d{2}",
          "string");

  /** An exact decimal number, as a BigDecimal. */
  public static final ValueType DECIMAL_NUMBER = decimal("a number", null);

  /** An amount of money, zero or more. */
  public static final ValueType MONEY =
      decimal("an amount of money, zero or more", BigDecimal.ZERO);

  /** A whole number, zero or more, of any size, as a BigDecimal: also 2e9. The reader checks it. */
  public static final ValueType COUNT = decimal("a whole number, zero or more", BigDecimal.ZERO);

  /** A number of hours, zero or more. */
  public static final ValueType HOURS = decimal("a number of hours, zero or more", BigDecimal.ZERO);

  /** Returns the type of a whole number from {@code min} to {@code max}. */
  public static ValueType integer(int min, int max) {
    return new ValueType(
        Kind.INTEGER,
        "a whole number from " + min + " to " + max,
        EnumSet.of(ScalarType.NUMBER),
        List.of("integer"),
        "",
        List.of(),
        BigDecimal.valueOf(min),
        BigDecimal.valueOf(max));
  }

  /** Returns the type of a word from a list. */
  public static ValueType choice(String... words) {
    return new ValueType(
        Kind.CHOICE,
        "one of " + String.join(", ", words),
        EnumSet.of(ScalarType.STRING),
        List.of("string"),
        "",
        List.of(words),
        null,
        null);
  }

  /** Returns what several values are, such as {@code names of letters} for a list. */
  public String several() {
    String words = expected.replaceFirst("^an? ", "");
    int end = words.length();
    for (String after : List.of(" of ", " from ", " with ", " such as ", ",", ":", " (")) {
      int at = words.indexOf(after);
      end = at < 0 ? end : Math.min(end, at);
    }
    return words.substring(0, end) + "s" + words.substring(end);
  }

  /**
   * Returns the type of a text with a given form.
   *
   * @param expected the form in words, for messages
   * @param pattern a regular expression for the whole text
   */
  public static ValueType text(String expected, String pattern) {
    return of(Kind.TEXT, expected, EnumSet.of(ScalarType.STRING), "^" + pattern + "$", "string");
  }

  /**
   * Returns the type of a text with a given form that YAML may read as a number.
   *
   * @param expected the form in words, for messages
   * @param pattern a regular expression for the whole text
   */
  public static ValueType count(String expected, String pattern) {
    return of(Kind.TEXT, expected, TEXT_OR_NUMBER, "^" + pattern + "$", "string", "integer");
  }

  private static ValueType decimal(String expected, @Nullable BigDecimal min) {
    return new ValueType(
        Kind.DECIMAL,
        expected,
        EnumSet.of(ScalarType.NUMBER),
        List.of("number"),
        "",
        List.of(),
        min,
        null);
  }

  private static ValueType quantity(Kind kind, String forms) {
    return of(kind, forms, TEXT_OR_NUMBER, "", "string", "integer");
  }

  private static ValueType of(Kind kind, String expected, ScalarType accepts, String jsonType) {
    return of(kind, expected, EnumSet.of(accepts), "", jsonType);
  }

  private static ValueType of(
      Kind kind, String expected, Set<ScalarType> accepts, String pattern, String... jsonTypes) {
    return new ValueType(
        kind, expected, accepts, List.of(jsonTypes), pattern, List.of(), null, null);
  }

  boolean isNumber() {
    return kind == Kind.INTEGER || kind == Kind.DECIMAL;
  }

  /** Returns whether the value is a path. Every reference in a path must be known. */
  boolean isPath() {
    return kind == Kind.PATH;
  }

  /** Returns whether the value is a text that may contain references and other text in braces. */
  boolean mayHoldReferences() {
    return kind == Kind.LITERAL || kind == Kind.FREE_TEXT;
  }

  /**
   * Parses a text.
   *
   * @return a String, Boolean, Integer, BigDecimal, LocalDate, Duration or Long (bytes), by the
   *     kind
   * @throws IllegalArgumentException if the text does not fit; the message is fit for the user
   */
  public Object parse(String text) {
    return switch (kind) {
      case TEXT, PATH -> matching(text);
      case CHOICE -> oneOf(text);
      case LITERAL -> oneLine(text);
      case FREE_TEXT -> anyText(text);
      case SCRIPT -> script(text);
      case BOOLEAN -> text.equals("true");
      case INTEGER -> integer(text);
      case DECIMAL -> decimal(text);
      case DATE -> date(text);
      case TIME -> TimeLimit.parse(unambiguous(text));
      case LENGTH -> TimeLimit.parseExact(unambiguous(text));
      case MEMORY -> Memory.parse(unambiguous(text));
      case SIZE -> Memory.parseWithUnit(unambiguous(text));
      case NODE_MEMORY -> text.equals("all") ? 0L : Memory.parseWithUnit(unambiguous(text));
    };
  }

  private String matching(String text) {
    oneLine(text);
    boolean matches = pattern.isEmpty() || Pattern.matches(pattern, text);
    if (text.isEmpty() || !matches) {
      throw new IllegalArgumentException(
          "expected " + expected + ", got '" + YamlNode.shortened(text) + "'");
    }
    return text;
  }

  private String oneOf(String text) {
    if (choices.contains(text)) {
      return text;
    }
    throw new IllegalArgumentException(
        "expected %s, got '%s'%s"
            .formatted(expected, YamlNode.shortened(text), Nearest.hint(text, choices)));
  }

  /**
   * Returns what to write for a text in another notation, such as {@code yes}, {@code 3,10}, {@code
   * 1_000}, {@code 0.5} for a whole number or {@code 2-4}; an empty text if that is not clear.
   */
  String respelled(String text) {
    Set<String> right = new LinkedHashSet<>();
    if (kind == Kind.BOOLEAN) {
      right.add(text.matches("(?i)yes|y|on|1|true") ? "true" : "");
      right.add(text.matches("(?i)no|n|off|0|false") ? "false" : "");
    } else if (isNumber()) {
      String plain = text.replaceAll("_|^[$€£] ?| ?[A-Z]{3}$|^0+(?=\\d)", "");
      boolean groups = plain.matches("\\d{1,3}(,\\d{3})+(\\.\\d+)?");
      List<String> numbers = new ArrayList<>(List.of(groups ? plain.replace(",", "") : ""));
      boolean whole = kind == Kind.INTEGER;
      numbers.addAll(
          List.of((whole ? plain : plain.replace(',', '.')).split("(?<=\\d)-(?=\\d)", -1)));
      for (String number : numbers) {
        if (number.matches("\\d{1,30}(\\.\\d{1,30})?([eE]\\+?\\d)?")) {
          BigDecimal exact = new BigDecimal(number);
          right.add(whole ? exact.setScale(0, RoundingMode.FLOOR).toPlainString() : number);
          right.add(whole ? exact.setScale(0, RoundingMode.CEILING).toPlainString() : number);
        }
      }
      right.removeIf(number -> isOutside(new BigDecimal(number)));
    }
    right.remove("");
    return right.isEmpty() ? "" : ": write " + String.join(" or ", right);
  }

  private Integer integer(String text) {
    if (!INTEGER.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected "
              + (text.matches("\\d*\\.\\d+")
                  ? expected
                  : "a whole number in plain digits, without leading zeros or '_'")
              + ", got '"
              + YamlNode.shortened(text)
              + "'");
    }
    BigDecimal number = new BigDecimal(text);
    if (isOutside(number)) {
      throw new IllegalArgumentException(
          "expected " + expected + ", got " + YamlNode.shortened(text));
    }
    return number.intValueExact();
  }

  private BigDecimal decimal(String text) {
    if (text.length() > 40 || !DECIMAL.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "expected " + expected + " such as 0.5 or 2e-5, got '" + YamlNode.shortened(text) + "'");
    }
    BigDecimal number = new BigDecimal(text);
    if (Math.abs((long) number.precision() - number.scale()) > 30 || number.scale() > 40) {
      throw new IllegalArgumentException(
          "expected " + expected + " of ordinary size, got '" + YamlNode.shortened(text) + "'");
    }
    if (isOutside(number)) {
      throw new IllegalArgumentException(
          "expected " + expected + ", got " + YamlNode.shortened(text));
    }
    return number;
  }

  private boolean isOutside(BigDecimal number) {
    return (min != null && number.compareTo(min) < 0) || (max != null && number.compareTo(max) > 0);
  }

  private static Object date(String text) {
    try {
      return LocalDate.parse(text);
    } catch (DateTimeParseException notADate) {
      throw new IllegalArgumentException(
          "expected a date such as 2026-11-01, got '" + YamlNode.shortened(text) + "'", notADate);
    }
  }

  /** Refuses a leading zero, because some YAML parsers read it as octal. */
  private static String unambiguous(String text) {
    if (text.matches("0\\d+")) {
      throw new IllegalArgumentException(
          "expected no leading zero, got '" + YamlNode.shortened(text) + "'");
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

  /**
   * Refuses half of a surrogate pair: it has no bytes in UTF-8 and would reach the job as a
   * question mark.
   */
  private static void wholeCharacters(String text) {
    for (int i = 0; i < text.length(); i++) {
      boolean whole = !Character.isSurrogate(text.charAt(i));
      if (!whole && i + 1 < text.length()) {
        whole = Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
        i += whole ? 1 : 0;
      }
      if (!whole) {
        throw new IllegalArgumentException(
            String.format(
                "holds half of a character (U+%04X): write it whole", (int) text.charAt(i)));
      }
    }
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
