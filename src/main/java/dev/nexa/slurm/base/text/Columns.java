package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a list, declared once. {@link Listing} prints rows under them as a text table,
 * CSV, Markdown or JSON.
 *
 * <p>A column has a name, which is its key in JSON and its name in CSV. Tables for people have a
 * heading, which follows from the name unless {@link #as} gives another heading. JSON and CSV hold
 * a column's value; tables show it in the unit that the column's method names. A value may be null:
 * JSON has null, and a table shows {@code -}. For an empty Optional, JSON has no member.
 *
 * <p>Objects of this class do not change. Each method returns a copy with one more column.
 *
 * @param <R> the type of a row
 */
public final class Columns<R> {
  private static final BigDecimal HUNDRED = new BigDecimal(100);

  private enum Unit {
    TEXT,
    STATE,
    RIGHT_TEXT,
    NOTE,
    NUMBER,
    MONEY,
    RATIO,
    SECONDS,
    HOURS
  }

  /**
   * One column.
   *
   * @param rare whether {@link Listing#withoutRare} omits the column if it holds nothing
   */
  record Column<R>(
      String name, String heading, Unit unit, boolean rare, Function<R, @Nullable Object> value) {

    boolean isNote() {
      return unit == Unit.NOTE;
    }

    boolean isState() {
      return unit == Unit.STATE;
    }

    /** Returns whether cells are aligned right. */
    boolean right() {
      return unit != Unit.TEXT && !isState() && !isNote();
    }

    void json(JsonObject object, R row) {
      Object value = this.value.apply(row);
      if (value instanceof Optional<?> optional) {
        object.withOptional(name, optional.map(this::json));
      } else {
        object.with(name, value == null ? null : json(value));
      }
    }

    private Object json(Object value) {
      if (value instanceof Duration duration) {
        return duration.toSeconds();
      }
      return unit == Unit.MONEY || unit == Unit.HOURS ? plainText(value) : value;
    }

    /** Returns the value for CSV; empty if it is not known. */
    String plain(R row) {
      Object value = known(row);
      return value == null ? "" : plainText(value);
    }

    private @Nullable Object known(R row) {
      Object value = this.value.apply(row);
      return value instanceof Optional<?> optional ? optional.orElse(null) : value;
    }

    private static String plainText(Object value) {
      if (value instanceof BigDecimal number) {
        return number.toPlainString();
      }
      if (value instanceof Money money) {
        return money.amount().toPlainString();
      }
      return value instanceof Duration duration ? "" + duration.toSeconds() : value.toString();
    }

    /** Returns the value in its unit, for people; empty if it is not known. */
    String shown(R row) {
      Object value = known(row);
      if (value == null) {
        return "";
      }
      return switch (unit) {
        case NOTE -> value.toString().replaceAll("\\s*\\R\\s*", "; ");
        case MONEY -> value instanceof Money ? value.toString() : plainText(value);
        case RATIO -> ratio((BigDecimal) value);
        case SECONDS ->
            TimeLimit.clock(
                value instanceof Duration time
                    ? time
                    : Duration.ofSeconds(((Number) value).longValue()));
        case HOURS -> ((BigDecimal) value).setScale(2, RoundingMode.HALF_EVEN).toPlainString();
        case TEXT, STATE, RIGHT_TEXT, NUMBER -> plainText(value);
      };
    }

    /** Returns {@code 2.6 %}; from a hundred times on {@code 387 times}. */
    private static String ratio(BigDecimal ratio) {
      return ratio.compareTo(HUNDRED) < 0
          ? ratio.movePointRight(2).setScale(1, RoundingMode.HALF_EVEN) + " %"
          : ratio.setScale(0, RoundingMode.HALF_EVEN) + " times";
    }

    /** Returns the cell of a text table. */
    String cell(R row) {
      String shown = VisibleText.line(shown(row));
      return shown.isEmpty() && unit != Unit.NOTE ? "-" : shown;
    }
  }

  private final List<Column<R>> columns;

  public Columns() {
    this(List.of());
  }

  Columns(List<Column<R>> columns) {
    this.columns = columns;
  }

  /** Returns columns of rows that are lists of text, one for each name. */
  public static Columns<List<String>> ofTexts(String... names) {
    Columns<List<String>> columns = new Columns<>();
    for (int i = 0; i < names.length; i++) {
      int at = i;
      columns = columns.text(names[i], cells -> cells.get(at));
    }
    return columns;
  }

  /** Adds a column of words, flags or times. */
  public Columns<R> text(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.TEXT, value);
  }

  /** Adds a column of states, which have colours on a terminal. */
  public Columns<R> state(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.STATE, value);
  }

  /** Adds a column of sentences. Tables show no {@code -} for an empty sentence. */
  public Columns<R> note(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.NOTE, value);
  }

  /** Adds a column of counts or other numbers without a unit. */
  public Columns<R> number(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.NUMBER, value);
  }

  /**
   * Adds a column of {@link Money}, or of {@link BigDecimal} if another column has the currency.
   * JSON has the amount as text.
   */
  public Columns<R> money(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.MONEY, value);
  }

  /** Adds a column of {@link BigDecimal}: tables show 0.0265 as 2.6 %, and 387 as 387 times. */
  public Columns<R> ratio(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.RATIO, value);
  }

  /** Adds a column of {@link Duration} or whole seconds: tables show 3600 as 01:00:00. */
  public Columns<R> seconds(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.SECONDS, value);
  }

  /** Adds a column of {@link BigDecimal}: tables show two decimals. JSON has the number as text. */
  public Columns<R> hours(String name, Function<R, @Nullable Object> value) {
    return with(name, Unit.HOURS, value);
  }

  private Columns<R> with(String name, Unit unit, Function<R, @Nullable Object> value) {
    return plus(List.of(new Column<>(name, heading(name, unit), unit, false, value)));
  }

  /** Returns {@code OF RESERVED P50} for {@code of_reserved_ratio_p50}: cells show the unit. */
  private static String heading(String name, Unit unit) {
    String words =
        switch (unit) {
          case RATIO -> name.replace("_ratio", "");
          case SECONDS -> name.replace("_seconds", "");
          default -> name;
        };
    return words.toUpperCase(Locale.ROOT).replace('_', ' ');
  }

  /** Gives the last column another heading. */
  public Columns<R> as(String heading) {
    return last(heading, last().unit(), last().rare());
  }

  /** Aligns the last column right, for numbers that are text. */
  public Columns<R> right() {
    return last(last().heading(), Unit.RIGHT_TEXT, last().rare());
  }

  /** Makes the last column rare: {@link Listing#withoutRare} omits it if it holds nothing. */
  public Columns<R> rare() {
    return last(last().heading(), last().unit(), true);
  }

  private Column<R> last() {
    return columns.get(columns.size() - 1);
  }

  private Columns<R> last(String heading, Unit unit, boolean rare) {
    List<Column<R>> all = new ArrayList<>(columns);
    all.set(all.size() - 1, new Column<>(last().name(), heading, unit, rare, last().value()));
    return new Columns<>(all);
  }

  /** Returns these columns and then the others, without those whose name is here already. */
  public Columns<R> and(Columns<R> more) {
    List<String> names = columns.stream().map(Column::name).toList();
    return plus(more.columns.stream().filter(one -> !names.contains(one.name())).toList());
  }

  private Columns<R> plus(List<Column<R>> more) {
    List<Column<R>> all = new ArrayList<>(columns);
    all.addAll(more);
    return new Columns<>(all);
  }

  /**
   * Returns the named columns in this order.
   *
   * @throws IllegalArgumentException if there is no such column
   */
  public Columns<R> select(String... names) {
    List<Column<R>> selected = new ArrayList<>();
    for (String name : names) {
      Column<R> found = null;
      for (Column<R> column : columns) {
        found = column.name().equals(name) ? column : found;
      }
      if (found == null) {
        throw new IllegalArgumentException("no column " + name);
      }
      selected.add(found);
    }
    return new Columns<>(selected);
  }

  List<Column<R>> list() {
    return columns;
  }

  /** Returns the rows under these columns. */
  public Listing<R> of(List<? extends R> rows) {
    return new Listing<>(this, List.copyOf(rows));
  }

  /** Adds the row's members to a JSON object and returns the object. */
  public JsonObject addTo(JsonObject object, R row) {
    columns.forEach(column -> column.json(object, row));
    return object;
  }
}
