package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.units.Moment;
import dev.nexa.slurm.units.Span;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
    List<String> known = field.known();
    String word = known.isEmpty() ? value : value.toLowerCase(Locale.ROOT);
    if (!known.isEmpty() && !operator.equals("~") && !known.contains(word)) {
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
    Optional<Duration> span = Span.of(value);
    if (span.isEmpty()) {
      throw place.wrong("expected a time such as " + Span.FORMS + ", got '" + value + "'");
    }
    return BigDecimal.valueOf(span.get().toSeconds());
  }

  /**
   * A day or a month is all of it: {@code =} is within, {@code >} behind. Of UTC, as the ledger's
   * months and the bills are.
   */
  private static Term time(Field field, String operator, String value, Place place, Instant now) {
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
