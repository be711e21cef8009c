package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.insight.report.BudgetOutlook;
import dev.nexa.slurm.money.forecast.BurnDown;
import dev.nexa.slurm.money.forecast.Forecast;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Draws series as SVG. Each chart has a title for screen readers; the same numbers stand in a table
 * beside it. Pure.
 */
final class Charts {
  private static final int WIDTH = 560;
  private static final int HEIGHT = 218;
  private static final int LEFT = 58;
  private static final int TOP = 10;
  private static final int BOTTOM = 24;
  private static final int PLOT = HEIGHT - TOP - BOTTOM;

  private Charts() {}

  /**
   * A series of a chart.
   *
   * @param style its class in the style sheet
   * @param values a value for each label
   */
  record Series(String name, String style, List<BigDecimal> values) {}

  /** Returns an SVG with a title. */
  static Tag svg(int width, int height, String title) {
    return Tag.of("svg")
        .with("viewBox", "0 0 " + width + " " + height)
        .with("role", "img")
        .with("aria-label", title)
        .add(Tag.of("title", title));
  }

  static Tag rect(double x, double y, double width, double height, String style) {
    return Tag.styled("rect", style)
        .with("x", Figures.at(x))
        .with("y", Figures.at(y))
        .with("width", Figures.at(Math.max(0, width)))
        .with("height", Figures.at(Math.max(0, height)));
  }

  static Tag text(double x, double y, String anchor, String text) {
    return Tag.of("text", text)
        .with("x", Figures.at(x))
        .with("y", Figures.at(y))
        .with("text-anchor", anchor);
  }

  static Tag line(double x1, double y1, double x2, double y2, String style) {
    return Tag.styled("line", style)
        .with("x1", Figures.at(x1))
        .with("y1", Figures.at(y1))
        .with("x2", Figures.at(x2))
        .with("y2", Figures.at(y2));
  }

  private static double y(VerticalAxis scale, BigDecimal value) {
    return TOP + PLOT * (1 - scale.share(value));
  }

  private static Tag plot(String title, VerticalAxis scale) {
    Tag svg = svg(WIDTH, HEIGHT, title);
    grid(svg, scale, LEFT, WIDTH, TOP, PLOT);
    return svg;
  }

  /** Draws the lines of an axis with their values, between these places. */
  static void grid(Tag svg, VerticalAxis scale, int left, int right, double top, double plot) {
    for (BigDecimal tick : scale.ticks()) {
      double y = top + plot * (1 - scale.share(tick));
      svg.add(line(left, y, right, y, tick.signum() == 0 ? "axis" : "grid"));
      svg.add(text(left - 7, y + 4, "end", Figures.tick(tick)));
    }
  }

  /**
   * Returns bars, one for each label, made of a piece for each series.
   *
   * @param unit the unit of the values, for the notes that the pointer shows
   */
  static Tag stacked(String title, List<String> labels, List<Series> series, String unit) {
    BigDecimal most = BigDecimal.ZERO;
    for (int i = 0; i < labels.size(); i++) {
      BigDecimal sum = BigDecimal.ZERO;
      for (Series one : series) {
        sum = sum.add(one.values().get(i).max(BigDecimal.ZERO));
      }
      most = most.max(sum);
    }
    VerticalAxis scale = VerticalAxis.upTo(most);
    Tag svg = plot(title, scale);
    double slot = (double) (WIDTH - LEFT) / labels.size();
    double width = Math.min(30, slot * 0.66);
    for (int i = 0; i < labels.size(); i++) {
      double x = LEFT + slot * i + (slot - width) / 2;
      BigDecimal below = BigDecimal.ZERO;
      for (Series one : series) {
        BigDecimal value = one.values().get(i);
        if (value.signum() > 0) {
          BigDecimal above = below.add(value);
          double y = y(scale, above);
          svg.add(
              rect(x, y, width, y(scale, below) - y, one.style())
                  .add(tip(labels.get(i), one, value, unit)));
          below = above;
        }
      }
      label(svg, labels, i, x + width / 2);
    }
    return svg;
  }

  /** Returns what the pointer shows on a bar. */
  private static Tag tip(String label, Series series, BigDecimal value, String unit) {
    return Tag.of("title", label + " " + series.name() + ": " + Figures.axis(value) + " " + unit);
  }

  /** Returns bars side by side for each label. */
  static Tag grouped(String title, List<String> labels, List<Series> series, String unit) {
    BigDecimal most =
        series.stream()
            .flatMap(one -> one.values().stream())
            .reduce(BigDecimal.ZERO, BigDecimal::max);
    VerticalAxis scale = VerticalAxis.upTo(most);
    Tag svg = plot(title, scale);
    double slot = (double) (WIDTH - LEFT) / labels.size();
    double width = Math.min(14, slot * 0.8 / series.size());
    for (int i = 0; i < labels.size(); i++) {
      double x = LEFT + slot * i + (slot - width * series.size()) / 2;
      for (int s = 0; s < series.size(); s++) {
        BigDecimal value = series.get(s).values().get(i);
        double y = y(scale, value);
        svg.add(
            rect(x + s * width, y, width - 1, TOP + PLOT - y, series.get(s).style())
                .add(tip(labels.get(i), series.get(s), value, unit)));
      }
      label(svg, labels, i, x + width * series.size() / 2);
    }
    return svg;
  }

  /** Writes a month below its bar, and the year where it begins. */
  private static void label(Tag svg, List<String> labels, int i, double x) {
    String month = labels.get(i);
    boolean newYear = i == 0 || !labels.get(i - 1).substring(0, 4).equals(month.substring(0, 4));
    String year = newYear ? " " + month.substring(2, 4) : "";
    svg.add(text(x, HEIGHT - 8, "middle", Figures.briefMonth(month) + year));
  }

  /** Returns what was spent of a budget day by day, the budget, and the forecast. */
  static Tag burnDown(BudgetOutlook budget) {
    Forecast forecast = budget.burnDown().forecast();
    Optional<BigDecimal> end =
        forecast.total().filter(total -> !forecast.isOver()).map(Money::amount);
    BigDecimal most = budget.amount().max(budget.spent());
    VerticalAxis scale = VerticalAxis.upTo(end.map(most::max).orElse(most));
    String title = "Spent of the budget %s in %s, day by day";
    Tag svg = plot(title.formatted(budget.name(), budget.period()), scale);
    LocalDate first = forecast.first();
    LocalDate last = forecast.last();
    double slot = (double) (WIDTH - LEFT) / (ChronoUnit.DAYS.between(first, last) + 1);
    StringBuilder curve = new StringBuilder("M" + Figures.at(LEFT, y(scale, BigDecimal.ZERO)));
    double now = LEFT;
    for (BurnDown.Day day : budget.burnDown().days()) {
      now += slot;
      curve.append('L').append(Figures.at(now, y(scale, day.soFar())));
    }
    svg.add(
        Tag.styled("path", "area").with("d", curve + "L" + Figures.at(now, TOP + PLOT) + "Z"),
        Tag.styled("path", "curve").with("d", curve.toString()));
    if (end.isPresent()) {
      svg.add(line(now, y(scale, budget.spent()), WIDTH, y(scale, end.get()), "ahead"));
    }
    double limit = y(scale, budget.amount());
    svg.add(
        line(LEFT, limit, WIDTH, limit, "limit"),
        text(
                WIDTH,
                limit < 2 * TOP ? limit + 13 : limit - 5,
                "end",
                "budget " + Figures.axis(budget.amount()))
            .with("class", "strong"));
    for (LocalDate day : marks(first, last)) {
      double x = LEFT + slot * (ChronoUnit.DAYS.between(first, day) + 0.5);
      svg.add(text(x, HEIGHT - 8, "middle", Figures.day(day)));
    }
    return svg;
  }

  /** Returns the days with a label: the first days of months, or five days of one month. */
  private static List<LocalDate> marks(LocalDate first, LocalDate last) {
    boolean oneMonth = ChronoUnit.DAYS.between(first, last) < 32;
    return first
        .datesUntil(last.plusDays(1))
        .filter(
            day -> (oneMonth ? List.of(1, 8, 15, 22) : List.of(1)).contains(day.getDayOfMonth()))
        .toList();
  }

  /** Returns a bar for a cell of a table; its length is a share of the cell, 0 to 1. */
  static Tag cellBar(double share, double lighter) {
    return Tag.styled("svg", "cellbar")
        .with("viewBox", "0 0 120 10")
        .with("preserveAspectRatio", "none")
        .with("aria-hidden", "true")
        .add(rect(0, 2, 120 * Math.min(1, lighter), 6, "bar-track"))
        .add(rect(0, 2, 120 * Math.min(1, share), 6, "s0"));
  }
}
