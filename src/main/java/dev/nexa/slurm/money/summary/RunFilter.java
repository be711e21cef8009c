package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Moment;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Selects runs by terms such as {@code status=failed cost>10 created>=7d
 * tag=experiment:science_v1}. A run must match all terms.
 *
 * <p>Operators are {@code =}, {@code !=}, {@code <}, {@code <=}, {@code >} and {@code >=}, and for
 * text fields {@code ~}, which means "contains". A missing value matches only {@code !=}.
 */
public final class RunFilter {
  private static final Pattern TERM = Pattern.compile("([^\\s=!<>~]*)(!=|<=|>=|=|<|>|~)?(.*)");

  private final String text;
  private final List<Term> terms;
  private final Set<RunField> fields;

  private RunFilter(String text, List<Term> terms, Set<RunField> fields) {
    this.text = text;
    this.terms = terms;
    this.fields = fields;
  }

  /** Returns a filter that accepts all runs. */
  public static RunFilter all() {
    return new RunFilter("", List.of(), Set.of());
  }

  /**
   * Reads terms that are separated by spaces. A value with spaces is put in double quotes.
   *
   * @param text the terms; empty to accept all runs
   * @param now the time from which {@code 7d} is counted back
   * @throws NexaException if a term is not valid
   */
  public static RunFilter parse(String text, Instant now) {
    List<Term> terms = new ArrayList<>();
    Set<RunField> fields = new LinkedHashSet<>();
    int at = 0;
    while (at < text.length()) {
      if (text.charAt(at) == ' ') {
        at++;
        continue;
      }
      int begin = at;
      boolean quoted = false;
      while (at < text.length() && (quoted || text.charAt(at) != ' ')) {
        quoted ^= text.charAt(at) == '"';
        at++;
      }
      Place place = new Place(terms.size() + 1, begin + 1, text.substring(begin, at));
      if (quoted) {
        throw place.wrong("the quote is not closed");
      }
      terms.add(term(place, now, fields));
    }
    return new RunFilter(text, terms, fields);
  }

  /**
   * Returns a filter for the runs of one month.
   *
   * @param typed a month such as {@code 2025-11}, {@code this} or {@code last}
   * @throws NexaException if it is not a month
   */
  public static RunFilter ofMonth(String typed, Instant now) {
    Optional<String> month = monthOf(typed, now);
    if (month.isEmpty()) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--month: " + expectedMonth(typed),
          Advice.step("--month last, --month this or --month 2025-11"));
    }
    return parse(RunField.MONTH.word() + "=" + month.get(), now);
  }

  /** Returns a filter that accepts the runs that both filters accept. */
  public RunFilter and(RunFilter other) {
    List<Term> both = new ArrayList<>(terms);
    both.addAll(other.terms);
    Set<RunField> named = new LinkedHashSet<>(fields);
    named.addAll(other.fields);
    return new RunFilter((text + " " + other.text).strip(), both, named);
  }

  private static Term term(Place place, Instant now, Set<RunField> fields) {
    Matcher form = TERM.matcher(place.text);
    if (!form.matches() || form.group(2) == null) {
      throw place.wrong(
          "expected a name, one of = != < <= > >= ~, and a value, such as status=failed");
    }
    String name = form.group(1);
    Optional<RunField> field = RunField.of(name);
    if (field.isEmpty()) {
      List<String> names = RunField.words(false);
      throw place.wrong(
          "unknown name '"
              + name
              + "'"
              + Nearest.to(name, names)
                  .map(near -> " (did you mean '" + near + "'?)")
                  .orElse("; known are " + String.join(", ", names)));
    }
    fields.add(field.get());
    String value = form.group(3).replace("\"", "");
    String operator = form.group(2);
    return switch (field.get().type()) {
      case TEXT -> text(field.get(), operator, value, place, now);
      case NUMBER -> number(field.get(), operator, decimal(value, place), place);
      case DURATION -> number(field.get(), operator, seconds(value, place), place);
      case TIME -> time(field.get(), operator, value, place, now);
    };
  }

  private static Term text(
      RunField field, String operator, String value, Place place, Instant now) {
    if (value.isEmpty()) {
      throw place.wrong("there is no value behind " + operator);
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
          "no run has the "
              + field.word()
              + " '"
              + value
              + "'"
              + Nearest.hint(word, known)
              + "; known are "
              + String.join(", ", known));
    }
    return switch (operator) {
      case "=" -> run -> field.texts(run).contains(word);
      case "!=" -> run -> !field.texts(run).contains(word);
      case "~" -> run -> contains(field.texts(run), word);
      default -> {
        if (field != RunField.MONTH) {
          throw place.wrong(field.word() + " is a word: it takes =, != and ~ only");
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

  /** Returns the month that the user means, as in the ledger; empty if it is not a month. */
  private static Optional<String> monthOf(String value, Instant now) {
    YearMonth current = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    if (value.equals("this") || value.equals("last")) {
      return Optional.of((value.equals("this") ? current : current.minusMonths(1)).toString());
    }
    try {
      return value.matches("\\d{4}-\\d{2}")
          ? Optional.of(YearMonth.parse(value).toString())
          : Optional.empty();
    } catch (DateTimeException noSuchMonth) {
      return Optional.empty();
    }
  }

  private static String expectedMonth(String value) {
    List<String> near =
        value.matches("\\d{4}-\\d") ? List.of(value.replace("-", "-0")) : List.of("this", "last");
    return "expected a month such as 2025-11, this or last, got '"
        + value
        + "'"
        + Nearest.hint(value, near);
  }

  private static String currency(String operator, String value, Place place) {
    String code = value.toUpperCase(Locale.ROOT);
    if (!code.matches(operator.equals("~") ? "[A-Z]{1,3}" : "[A-Z]{3}")) {
      throw place.wrong("expected an ISO 4217 code such as USD, got '" + value + "'");
    }
    return code;
  }

  private static boolean contains(List<String> texts, String value) {
    for (String text : texts) {
      if (text.contains(value)) {
        return true;
      }
    }
    return false;
  }

  private static Term number(RunField field, String operator, BigDecimal value, Place place) {
    notWithin(field, operator, place);
    return run -> {
      BigDecimal own = field.number(run);
      return own == null ? operator.equals("!=") : holds(operator, own.compareTo(value));
    };
  }

  private static void notWithin(RunField field, String operator, Place place) {
    if (operator.equals("~")) {
      throw place.wrong(field.word() + " is no word: ~ is for words");
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
      throw place.wrong("expected a number such as 10 or 0.5, got '" + value + "'");
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
  private static Term time(
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
      return own == null ? operator.equals("!=") : isThen(operator, own, then.from(), then.to());
    };
  }

  private static boolean isThen(String operator, Instant own, Instant from, Instant to) {
    boolean before = own.isBefore(from);
    boolean behind = !own.isBefore(to);
    return switch (operator) {
      case "=" -> !before && !behind;
      case "!=" -> before || behind;
      case "<" -> before;
      case "<=" -> before || !behind;
      case ">" -> behind;
      default -> !before;
    };
  }

  /** Returns the terms as they were typed. */
  String text() {
    return text;
  }

  /** Returns the fields of the terms, in their order. */
  Set<RunField> fields() {
    return fields;
  }

  /** Returns whether the run matches all terms. */
  public boolean accepts(LedgerLine run) {
    for (Term term : terms) {
      if (!term.holds(run)) {
        return false;
      }
    }
    return true;
  }

  /** One term of the filter. */
  private interface Term {
    boolean holds(LedgerLine run);
  }

  /** The position of a term; number and column count from 1. */
  private record Place(int number, int column, String text) {
    NexaException wrong(@Nullable String message) {
      return new NexaException(
          ErrorCode.OPTION_INVALID,
          "--where: term " + number + " '" + text + "', at character " + column + ": " + message,
          Advice.step("--where 'status=failed cost>10 created>=7d tag=experiment:science_v1'"));
    }
  }
}
