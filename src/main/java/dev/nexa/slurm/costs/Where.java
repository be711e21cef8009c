package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which runs are meant: {@code status=failed cost>10 created>=7d tag=experiment:science_v1}. All
 * terms must hold. {@code =}, {@code !=}, {@code <}, {@code <=}, {@code >}, {@code >=}, and for
 * words {@code ~}, contains. What is not known of a run fulfils {@code !=} only.
 */
public final class Where {
  private static final Pattern TERM = Pattern.compile("([^\\s=!<>~]*)(!=|<=|>=|=|<|>|~)?(.*)");
  private static final Pattern SPAN = Pattern.compile("(\\d{1,6})([smhdw])");

  private final List<Term> terms;

  private Where(List<Term> terms) {
    this.terms = terms;
  }

  /** All runs. */
  public static Where all() {
    return new Where(List.of());
  }

  /**
   * Reads terms, which spaces separate; a value with spaces stands in double quotes.
   *
   * @param now what {@code 7d} is counted back from
   */
  public static Where parse(String text, Instant now) {
    List<Term> terms = new ArrayList<>();
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
      terms.add(term(place, now));
    }
    return new Where(terms);
  }

  private static Term term(Place place, Instant now) {
    Matcher form = TERM.matcher(place.text);
    if (!form.matches() || form.group(2) == null) {
      throw place.wrong(
          "expected a name, one of = != < <= > >= ~, and a value, such as status=failed");
    }
    String name = form.group(1);
    Optional<Field> field = Field.of(name);
    if (field.isEmpty()) {
      List<String> names = Field.words(false);
      throw place.wrong(
          "unknown name '"
              + name
              + "'"
              + Nearest.to(name, names)
                  .map(near -> " (did you mean '" + near + "'?)")
                  .orElse("; known are " + String.join(", ", names)));
    }
    String value = form.group(3).replace("\"", "");
    String operator = form.group(2);
    return switch (field.get().type()) {
      case TEXT -> text(field.get(), operator, value, place);
      case NUMBER -> number(field.get(), operator, decimal(value, place), place);
      case DURATION -> number(field.get(), operator, seconds(value, place), place);
      case TIME -> time(field.get(), operator, value, place, now);
    };
  }

  private static Term text(Field field, String operator, String value, Place place) {
    if (value.isEmpty()) {
      throw place.wrong("there is no value behind " + operator);
    }
    boolean ordered = field == Field.MONTH;
    return switch (operator) {
      case "=" -> run -> field.texts(run).contains(value);
      case "!=" -> run -> !field.texts(run).contains(value);
      case "~" -> run -> contains(field.texts(run), value);
      default -> {
        if (!ordered) {
          throw place.wrong(field.word() + " is a word: it takes =, != and ~ only");
        }
        yield run -> holds(operator, run.month().compareTo(value));
      }
    };
  }

  private static boolean contains(List<String> texts, String value) {
    for (String text : texts) {
      if (text.contains(value)) {
        return true;
      }
    }
    return false;
  }

  private static Term number(Field field, String operator, BigDecimal value, Place place) {
    notWithin(field, operator, place);
    return run -> {
      BigDecimal own = field.number(run);
      return own == null ? operator.equals("!=") : holds(operator, own.compareTo(value));
    };
  }

  private static void notWithin(Field field, String operator, Place place) {
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
    Optional<Long> span = span(value);
    if (span.isEmpty()) {
      throw place.wrong("expected a time such as 90s, 30m, 12h or 7d, got '" + value + "'");
    }
    return BigDecimal.valueOf(span.get());
  }

  private static Optional<Long> span(String value) {
    Matcher form = SPAN.matcher(value);
    if (!form.matches()) {
      return Optional.empty();
    }
    long unit =
        switch (form.group(2)) {
          case "s" -> 1;
          case "m" -> 60;
          case "h" -> 3600;
          case "d" -> 86_400;
          default -> 7 * 86_400;
        };
    return Optional.of(Long.parseLong(form.group(1)) * unit);
  }

  /** A day or a month is all of it: {@code =} is within, {@code >} behind. */
  private static Term time(Field field, String operator, String value, Place place, Instant now) {
    notWithin(field, operator, place);
    Optional<Long> span = span(value);
    Instant from;
    Instant to;
    try {
      if (span.isPresent()) {
        from = now.minusSeconds(span.get());
        to = from;
      } else if (value.matches("\\d{4}-\\d{2}")) {
        from = YearMonth.parse(value).atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
        to = YearMonth.parse(value).plusMonths(1).atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
      } else if (value.matches("\\d{4}-\\d{2}-\\d{2}")) {
        from = LocalDate.parse(value).atStartOfDay().toInstant(ZoneOffset.UTC);
        to = LocalDate.parse(value).plusDays(1).atStartOfDay().toInstant(ZoneOffset.UTC);
      } else {
        from = Instant.parse(value);
        to = from.plusSeconds(1);
      }
    } catch (DateTimeException notATime) {
      throw place.wrong(
          "expected a time such as 7d (before now), 2025-11-01, 2025-11 or 2025-11-01T12:00:00Z,"
              + " got '"
              + value
              + "'");
    }
    return run -> {
      Instant own = field.time(run);
      return own == null ? operator.equals("!=") : isThen(operator, own, from, to);
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

  /** Whether the run is meant. */
  public boolean accepts(RunLine run) {
    for (Term term : terms) {
      if (!term.holds(run)) {
        return false;
      }
    }
    return true;
  }

  /** One of the terms. */
  private interface Term {
    boolean holds(RunLine run);
  }

  /** Where a term stands, both counted from 1. */
  private record Place(int number, int column, String text) {
    NexaException wrong(@Nullable String message) {
      return new NexaException(
          ExitCode.USAGE,
          "--where: term " + number + " '" + text + "', at character " + column + ": " + message,
          "--where 'status=failed cost>10 created>=7d tag=experiment:science_v1'");
    }
  }
}
