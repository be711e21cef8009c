package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Moment;
import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Selects runs by terms such as {@code status=failed cost>10 created>=7d
 * tag=experiment:science_v1}. A run must match all terms.
 *
 * <p>Operators are {@code =}, {@code !=}, {@code <}, {@code <=}, {@code >} and {@code >=}, and for
 * text fields {@code ~}, which means "contains". A missing value matches only {@code !=}, and for
 * text fields {@code =-}.
 *
 * @param text the terms as they were typed
 * @param wanted the properties of the terms, in their order, each with the value that {@code =}
 *     asks for; empty text for another operator
 * @param months the months if the filter has a term {@code month=}, or is of months; else empty
 */
public record RunFilter(
    String text,
    List<Predicate<LedgerLine>> terms,
    Map<RunProperty, String> wanted,
    Optional<MonthRange> months) {
  /** A text up to the next space that is not between quotes. */
  private static final Pattern TERMS = Pattern.compile("(?:[^ \"]++|\"[^\"]*+\"?+)++");

  private static final Pattern TERM = Pattern.compile("([^\\s=!<>~]*)(!=|<=|>=|=|<|>|~)?(.*)");

  private static final Pattern YEAR_FIRST = Pattern.compile("(\\d{4})[-/._ ]?(\\d{1,2})");
  private static final Pattern MONTH_FIRST = Pattern.compile("(\\d{1,2})[-/._ ](\\d{4})");

  /** An operator with a space after it, and a value. */
  private static final Pattern SPACED = Pattern.compile("^(==?|!=|<=?|>=?|~)\\s*(\\S+)");

  /** A word for an operator, and its values, as in SQL. */
  private static final Pattern WORDED =
      Pattern.compile("(?i)(in|is|equals?|like)\\b[\\s(]*([^\\s,()]+)(.*)");

  /** A term whose value has spaces and no quotes, at the end of the text. */
  private static final Pattern UNQUOTED =
      Pattern.compile("([^\\s=!<>~]+(?:!=|=|~))([^\\s=!<>~\"]+(?: +[^\\s=!<>~\"]+)+)$");

  /** Returns a filter that accepts all runs. */
  public static RunFilter all() {
    return new RunFilter("", List.of(), Map.of(), Optional.empty());
  }

  /**
   * Reads terms that are separated by spaces. A value with spaces is put in double quotes.
   *
   * @param text the terms; empty to accept all runs
   * @param now the time from which {@code 7d} is counted back
   * @throws NexaException if a term is not valid
   */
  public static RunFilter parse(String text, Instant now) {
    List<Predicate<LedgerLine>> terms = new ArrayList<>();
    Map<RunProperty, String> wanted = new LinkedHashMap<>();
    Matcher spaced = TERMS.matcher(text);
    while (spaced.find()) {
      Place place = new Place(terms.size() + 1, spaced.start() + 1, spaced.group());
      if (place.text.chars().filter(c -> c == '"').count() % 2 != 0) {
        throw place.wrong("the quote is not closed");
      }
      terms.add(term(place, text, now, wanted));
    }
    return new RunFilter(text, terms, wanted, onlyMonth(wanted, now));
  }

  private static Optional<MonthRange> onlyMonth(Map<RunProperty, String> wanted, Instant now) {
    return wanted.entrySet().stream()
        .filter(term -> term.getKey().field() == RunField.MONTH && !term.getValue().isEmpty())
        .findFirst()
        .flatMap(term -> MonthRange.parse(term.getValue(), now));
  }

  /**
   * Returns a filter for the runs of one month, or of several in a row.
   *
   * @param typed a month such as {@code 2025-11}, {@code this} or {@code last}, or two with {@code
   *     ..} between them
   * @throws NexaException if it is not a month, and no range of months
   */
  public static RunFilter ofMonths(String typed, Instant now) {
    MonthRange months = months(typed, now);
    String word = RunField.MONTH.word();
    String text =
        months.first().equals(months.last())
            ? word + "=" + months.first()
            : word + ">=" + months.first() + " " + word + "<=" + months.last();
    RunFilter filter = parse(text, now);
    return new RunFilter(filter.text, filter.terms, filter.wanted, Optional.of(months));
  }

  private static MonthRange months(String typed, Instant now) {
    String wrong = "";
    try {
      Optional<MonthRange> months = MonthRange.parse(typed, now);
      if (months.isPresent()) {
        return months.get();
      }
      wrong = expectedMonth(typed, ", or a range such as 2025-09..2025-11", "%s..%s");
    } catch (IllegalArgumentException backwards) {
      wrong = "" + backwards.getMessage();
    }
    throw ErrorCode.OPTION_INVALID.error(
        "--month: " + wrong, "--month last, --month 2025-11 or --month 2025-09..2025-11");
  }

  /** Returns a filter that accepts the runs that both filters accept. */
  public RunFilter and(RunFilter other) {
    List<Predicate<LedgerLine>> both = new ArrayList<>(terms);
    both.addAll(other.terms);
    Map<RunProperty, String> values = new LinkedHashMap<>(wanted);
    values.putAll(other.wanted);
    return new RunFilter(
        (text + " " + other.text).strip(), both, values, other.months.or(() -> months));
  }

  private static Predicate<LedgerLine> term(
      Place place, String text, Instant now, Map<RunProperty, String> wanted) {
    Matcher form = TERM.matcher(place.text);
    if (!form.matches() || form.group(2) == null) {
      throw place.wrong(
          "expected a name, one of = != < <= > >= ~, and a value, such as status=failed"
              + hint(text, place));
    }
    if (form.group(3).startsWith("=") && form.group(2).equals("=")) {
      throw place.wrong("the operator is one =: " + form.group(1) + form.group(3));
    }
    String name = form.group(1);
    Optional<RunProperty> known = RunProperty.of(name);
    if (known.isEmpty()) {
      List<String> names = RunField.words(false);
      throw place.wrong(
          "unknown name '%s'%s; known are %s, %s"
              .formatted(
                  name, RunField.meant(name, names), String.join(", ", names), RunProperty.TAGS));
    }
    RunProperty property = known.get();
    RunField field = property.field();
    String value = form.group(3).replace("\"", "");
    String operator = form.group(2);
    String single = field == RunField.MONTH ? monthOf(value, now).orElse(value) : value;
    String before = wanted.put(property, operator.equals("=") ? single : "");
    boolean contradicts = before != null && !before.isEmpty() && !before.equals(single);
    if (contradicts && operator.equals("=") && field != RunField.TAG) {
      throw place.wrong(
          ("a run has one %s, and '%s' was asked for too; for several, leave both"
                  + " out and type --by %s")
              .formatted(property.word(), before, property.word()));
    }
    return switch (field.type()) {
      case TEXT -> text(property, operator, value, place, now);
      case NUMBER -> number(field, operator, decimal(value, place), place);
      case DURATION -> number(field, operator, seconds(value, place), place);
      case TIME -> time(field, operator, value, place, now);
    };
  }

  /** Returns what is probably wrong with a term that has no operator; may be empty. */
  private static String hint(String text, Place place) {
    if (List.of("and", "or", "AND", "OR", "&&", "||", ",").contains(place.text)) {
      return "; write a space between two terms, and both must hold; there is no 'or'";
    }
    if (RunProperty.of(place.text).isPresent()) {
      RunProperty property = RunProperty.of(place.text).get();
      String rest = text.substring(place.column - 1 + place.text.length()).strip();
      Matcher spaced = SPACED.matcher(rest);
      Matcher worded = WORDED.matcher(rest);
      if (spaced.find()) {
        String operator = spaced.group(1).equals("==") ? "=" : spaced.group(1);
        return "; write " + place.text + operator + spaced.group(2) + ", without spaces";
      }
      if (worded.matches()) {
        return "; write %s=%s%s"
            .formatted(place.text, worded.group(2), severalOf(property, worded.group(3)));
      }
      return property.field().type() == RunField.Type.TEXT
          ? "; write " + place.text + "=VALUE"
          : "; put the expression into single quotes, because the shell takes > and < itself: '"
              + place.text
              + property.field().example()
              + "'";
    }
    if (place.text.matches("[A-Z]{3}")) {
      return "; an amount has no currency: currency=" + place.text + " selects the runs in it";
    }
    return colon(place.text) + unquoted(text, place);
  }

  private static String severalOf(RunProperty property, String others) {
    return others.matches("[\\s)]*")
        ? ""
        : "; it takes one value, and --by " + property.word() + " shows each";
  }

  /** Returns the hint that a term has a colon for an operator; empty for others. */
  private static String colon(String term) {
    int at = term.indexOf(':');
    return at > 0 && RunField.of(term.substring(0, at)).isPresent()
        ? "; write " + term.substring(0, at) + "=" + term.substring(at + 1)
        : "";
  }

  /** Returns the hint that a value with spaces needs quotes; empty for the first term. */
  private static String unquoted(String text, Place place) {
    Matcher before =
        UNQUOTED.matcher(text.substring(0, place.column - 1 + place.text.length()).strip());
    return before.find()
        ? "; a value with spaces needs double quotes: %s\"%s\""
            .formatted(before.group(1), before.group(2))
        : "";
  }

  private static Predicate<LedgerLine> text(
      RunProperty property, String operator, String value, Place place, Instant now) {
    RunField field = property.field();
    if (value.isEmpty()) {
      throw place.wrong(
          "there is no value behind "
              + operator
              + (field == RunField.MONTH
                  ? ""
                  : "; " + property.word() + "=- selects the runs that have none"));
    }
    boolean none = value.equals(GroupBy.NONE) && field != RunField.MONTH;
    if (none && List.of("=", "!=").contains(operator)) {
      return run -> property.texts(run).isEmpty() == operator.equals("=");
    }
    List<String> known = field.known();
    String word =
        switch (field) {
          case MONTH -> month(operator, value, place, now);
          case CURRENCY -> currency(operator, value, place);
          default -> known.isEmpty() ? value : value.toLowerCase(Locale.ROOT);
        };
    boolean contains = operator.equals("~");
    if (!known.isEmpty() && !(contains ? contains(known, word) : known.contains(word))) {
      throw place.wrong(
          "no run has the %s '%s'%s; known are %s"
              .formatted(field.word(), value, Nearest.hint(word, known), String.join(", ", known)));
    }
    return switch (operator) {
      case "=" -> run -> property.texts(run).contains(word);
      case "!=" -> run -> !property.texts(run).contains(word);
      case "~" -> run -> contains(property.texts(run), word);
      default -> {
        if (field != RunField.MONTH) {
          throw place.wrong(property.word() + " is a text: it takes =, != and ~ only");
        }
        yield run -> holds(operator, run.month().compareTo(word));
      }
    };
  }

  /** Returns a month in UTC, as in the ledger. With {@code ~} it may be a part of a month. */
  private static String month(String operator, String value, Place place, Instant now) {
    if (operator.equals("~") && value.matches("[0-9-]{1,6}")) {
      return value;
    }
    return monthOf(value, now).orElseThrow(() -> place.wrong(expectedMonth(value)));
  }

  /**
   * Returns the month that the user means, such as {@code 2025-11}; empty if it is not a month.
   *
   * @param value a month, {@code this} or {@code last}, in UTC
   */
  private static Optional<String> monthOf(String value, Instant now) {
    return MonthRange.month(value, now).map(YearMonth::toString);
  }

  private static String expectedMonth(String value) {
    return expectedMonth(value, "", "--where 'month>=%s month<=%s'");
  }

  /**
   * Returns what was expected.
   *
   * @param also more that was expected
   * @param several how several months are typed, with the first and the last of them
   */
  private static String expectedMonth(String value, String also, String several) {
    Matcher yearFirst = YEAR_FIRST.matcher(value);
    Matcher monthFirst = MONTH_FIRST.matcher(value);
    String hint = Nearest.hint(value, List.of("this", "last"));
    if (yearFirst.matches()) {
      hint = didYouMean(yearFirst.group(1), yearFirst.group(2));
    } else if (monthFirst.matches()) {
      hint = didYouMean(monthFirst.group(2), monthFirst.group(1));
    } else if (value.matches("(?i)q[1-4].*")) {
      int first = (value.charAt(1) - '1') * 3 + 1;
      String months =
          String.format(
              several, String.format("YEAR-%02d", first), String.format("YEAR-%02d", first + 2));
      hint = "; for a quarter: " + months + ", with your year";
    } else if (value.matches("\\d{4}([^0-9].*)?")) {
      String year = value.substring(0, 4);
      hint = "; for several months: " + String.format(several, year + "-01", year + "-12");
    }
    return "expected a month such as 2025-11, this or last" + also + ", got '" + value + "'" + hint;
  }

  private static String didYouMean(String year, String month) {
    int number = Integer.parseInt(month);
    return number < 1 || number > 12
        ? "; months are 01 to 12"
        : " (did you mean '" + YearMonth.of(Integer.parseInt(year), number) + "'?)";
  }

  private static String currency(String operator, String value, Place place) {
    String code = value.toUpperCase(Locale.ROOT);
    if (!code.matches(operator.equals("~") ? "[A-Z]{1,3}" : "[A-Z]{3}")) {
      throw place.wrong("expected an ISO 4217 code such as USD, got '" + value + "'");
    }
    return code;
  }

  private static boolean contains(List<String> texts, String value) {
    return texts.stream().anyMatch(text -> text.contains(value));
  }

  private static Predicate<LedgerLine> number(
      RunField field, String operator, BigDecimal value, Place place) {
    notWithin(field, operator, place);
    return run -> {
      BigDecimal own = field.number(run);
      return own == null ? operator.equals("!=") : holds(operator, own.compareTo(value));
    };
  }

  private static void notWithin(RunField field, String operator, Place place) {
    if (operator.equals("~")) {
      throw place.wrong(
          field.word() + " is " + field.kind() + ": it takes =, !=, <, <=, > and >= only");
    }
  }

  private static boolean holds(String operator, int comparison) {
    return switch (operator) {
      case "=" -> comparison == 0;
      case "!=" -> comparison != 0;
      case "<" -> comparison < 0;
      case "<=" -> comparison <= 0;
      case ">" -> comparison > 0;
      default -> comparison >= 0;
    };
  }

  private static BigDecimal decimal(String value, Place place) {
    try {
      return new BigDecimal(value);
    } catch (NumberFormatException notANumber) {
      String plain = value.replaceAll("[^0-9.]", "");
      String hint =
          value.matches("[<>=].*")
              ? "; the operators are =, !=, <, <=, > and >="
              : plain.matches("\\d+(\\.\\d+)?")
                  ? "; write " + plain + ", without a currency, a unit or separators"
                  : "";
      throw place.wrong("expected a number such as 10 or 0.5, got '" + value + "'" + hint);
    }
  }

  private static BigDecimal seconds(String value, Place place) {
    Optional<Duration> span = Span.of(value);
    if (span.isEmpty()) {
      throw place.wrong(
          "expected a time such as " + Span.FORMS + ", got '" + value + "'" + Span.hint(value));
    }
    return BigDecimal.valueOf(span.get().toSeconds());
  }

  /**
   * Compares times. A day or month stands for all of it: {@code =} matches a time within it, and
   * {@code >} a time after it. Days are in UTC, as the ledger's months and the bills are.
   */
  private static Predicate<LedgerLine> time(
      RunField field, String operator, String value, Place place, Instant now) {
    notWithin(field, operator, place);
    Moment then;
    try {
      then = Moment.parse(value, ZoneOffset.UTC, now);
    } catch (IllegalArgumentException notATime) {
      throw place.wrong(notATime.getMessage());
    }
    return run -> {
      Instant own = field.time(run);
      return own == null
          ? operator.equals("!=")
          : holds(operator, own.isBefore(then.from()) ? -1 : own.isBefore(then.to()) ? 0 : 1);
    };
  }

  /** Returns whether the run matches all terms. */
  public boolean accepts(LedgerLine run) {
    return terms.stream().allMatch(term -> term.test(run));
  }

  /** The position of a term; number and column count from 1. */
  private record Place(int number, int column, String text) {
    NexaException wrong(@Nullable String message) {
      return ErrorCode.OPTION_INVALID.error(
          "--where: term " + number + " '" + text + "', at character " + column + ": " + message,
          "--where 'status=failed cost>10 created>=7d tag=experiment:science_v1'");
    }
  }
}
