package dev.nexa.slurm.insight.html;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** A table with a caption. The first cell of each row is its heading. */
final class Table {
  private final String caption;
  private final String currency;
  private final List<String> heads = new ArrayList<>();
  private final List<Boolean> numbers = new ArrayList<>();
  private final List<Tag> rows = new ArrayList<>();
  private final List<Tag> sums = new ArrayList<>();
  private String wrapped = "";

  Table(String caption) {
    this.caption = caption;
    currency = "";
  }

  /** Creates a table whose amounts are of one currency, which the caption names. */
  Table(String caption, String currency) {
    this.caption = caption + ", " + currency;
    this.currency = currency;
  }

  /** Adds a column of words. */
  Table words(String... titles) {
    return column(false, titles);
  }

  /** Adds columns of numbers. */
  Table numbers(String... titles) {
    return column(true, titles);
  }

  private Table column(boolean number, String... titles) {
    for (String title : titles) {
      heads.add(title);
      numbers.add(number);
    }
    return this;
  }

  /** Lets long words of the first column break. */
  Table breaking() {
    wrapped = "long";
    return this;
  }

  /**
   * Adds a row.
   *
   * @param cells a text, an amount of the table's currency, a whole number or a {@link Tag} for
   *     each column
   */
  Table row(Object... cells) {
    rows.add(tr(cells));
    return this;
  }

  /** Adds a row of sums below the others. */
  Table sum(Object... cells) {
    sums.add(tr(cells));
    return this;
  }

  private Tag tr(Object... cells) {
    Tag row = Tag.of("tr");
    for (int i = 0; i < cells.length; i++) {
      Tag cell = Tag.of(i == 0 ? "th" : "td");
      if (i == 0) {
        cell.with("scope", "row");
      }
      String style = numbers.get(i) ? "n" : i == 0 ? wrapped : "";
      if (!style.isEmpty()) {
        cell.with("class", style);
      }
      if (cells[i] instanceof Tag tag) {
        cell.add(tag);
      } else if (cells[i] instanceof BigDecimal amount) {
        cell.text(Figures.money(amount, currency));
      } else {
        cell.text(cells[i] instanceof Number n ? Figures.count(n.longValue()) : (String) cells[i]);
      }
      row.add(cell);
    }
    return row;
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns the table in a box that scrolls if the table is too wide. */
  Tag tag() {
    Tag head = Tag.of("tr");
    for (int i = 0; i < heads.size(); i++) {
      Tag cell = Tag.of("th", heads.get(i)).with("scope", "col");
      if (numbers.get(i)) {
        cell.with("class", "n");
      }
      head.add(cell);
    }
    Tag table =
        Tag.of("table")
            .add(Tag.of("caption", caption), Tag.of("thead").add(head), Tag.of("tbody").add(rows));
    if (!sums.isEmpty()) {
      table.add(Tag.of("tfoot").add(sums));
    }
    return scrolling(caption, table);
  }

  /** Returns a box that scrolls, and that the keyboard can reach. */
  static Tag scrolling(String name, Tag content) {
    return Tag.styled("div", "scroll")
        .with("role", "region")
        .with("aria-label", name)
        .with("tabindex", "0")
        .add(content);
  }
}
