package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.ReportedAttempt;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;

/**
 * Draws when attempts waited and ran: a bar for each attempt, or for many attempts how many ran at
 * the same time. Pure.
 */
final class Timeline {
  private static final int MOST_BARS = 40;
  private static final int WIDTH = 1120;
  private static final int LEFT = 110;
  private static final int ROW = 20;
  private static final int AREA = 190;
  private static final int POINTS = 400;

  private Timeline() {}

  /** Returns the chart with its caption. */
  static Tag figure(List<ReportedAttempt> attempts) {
    List<ReportedAttempt> placed =
        attempts.stream().filter(one -> one.started().isPresent()).toList();
    if (placed.isEmpty()) {
      return PageParts.note("No attempt has started.");
    }
    return placed.size() <= MOST_BARS ? bars(placed) : together(placed);
  }

  private static Instant begin(ReportedAttempt one) {
    Instant started = one.started().orElseThrow();
    return one.submitted().filter(at -> at.isBefore(started)).orElse(started);
  }

  private static Tag bars(List<ReportedAttempt> attempts) {
    Instant first = attempts.stream().map(Timeline::begin).min(Instant::compareTo).orElseThrow();
    Instant last =
        attempts.stream()
            .flatMap(one -> one.ended().stream())
            .max(Instant::compareTo)
            .orElseThrow();
    double seconds = Math.max(1, Duration.between(first, last).toSeconds());
    double scale = (WIDTH - LEFT - 10) / seconds;
    int height = attempts.size() * ROW + 26;
    Tag svg = Charts.svg(WIDTH, height, "When each attempt waited and ran").with("class", "wide");
    axis(svg, first, seconds, height);
    for (int i = 0; i < attempts.size(); i++) {
      ReportedAttempt one = attempts.get(i);
      double y = i * ROW + 4;
      double from = LEFT + Duration.between(first, begin(one)).toSeconds() * scale;
      double start =
          LEFT + Duration.between(first, one.started().orElseThrow()).toSeconds() * scale;
      double width = Math.max(2, one.elapsedSeconds() * scale);
      String tip = one.job() + ": " + one.state() + " after ";
      svg.add(
          Charts.text(LEFT - 8, y + 10, "end", one.job()),
          Charts.rect(from, y + 4, start - from, 4, "waiting"),
          Charts.rect(start, y, width, 12, PageParts.bar(one.word()))
              .add(Tag.of("title", tip + Figures.duration(one.elapsedSeconds()))));
    }
    return PageParts.figure(
        "Thin: in the queue. Thick: running; green completed, red did not. The table below has each row. UTC.",
        Table.scrolling("Timeline", svg));
  }

  private static void axis(Tag svg, Instant first, double seconds, int height) {
    int marks = (int) Math.min(6, seconds);
    for (int i = 0; i <= marks; i++) {
      double x = LEFT + (WIDTH - LEFT - 10.0) * i / marks;
      Instant at = first.plusSeconds(Math.round(seconds * i / marks));
      String words = Figures.time(at, seconds);
      svg.add(Charts.line(x, 0, x, height - 20, "grid"));
      svg.add(
          Charts.text(
              x,
              height - 6,
              i == 0 ? "start" : i == marks ? "end" : "middle",
              seconds > 2 * 86_400 ? words.substring(5) : words.substring(11)));
    }
  }

  /** Draws how many attempts ran at the same time. */
  private static Tag together(List<ReportedAttempt> attempts) {
    TreeMap<Instant, Integer> changes = new TreeMap<>();
    Instant last = Instant.MIN;
    for (ReportedAttempt one : attempts) {
      Instant end = one.ended().orElseThrow();
      changes.merge(one.started().orElseThrow(), 1, Integer::sum);
      changes.merge(end, -1, Integer::sum);
      last = end.isAfter(last) ? end : last;
    }
    Instant first = changes.firstKey();
    double seconds = Math.max(1, Duration.between(first, last).toSeconds());
    int[] most = new int[POINTS + 1];
    int running = 0;
    int peak = 0;
    for (var change : changes.entrySet()) {
      int slot = (int) (Duration.between(first, change.getKey()).toSeconds() / seconds * POINTS);
      for (int i = lastSet(most, slot); i < slot; i++) {
        most[i] = Math.max(most[i], running);
      }
      running += change.getValue();
      most[slot] = Math.max(most[slot], running);
      peak = Math.max(peak, running);
    }
    VerticalAxis axis = VerticalAxis.upTo(BigDecimal.valueOf(peak));
    Tag svg =
        Charts.svg(WIDTH, AREA, "How many attempts ran at the same time, at most " + peak)
            .with("class", "wide");
    double plot = AREA - 32.0;
    Charts.grid(svg, axis, LEFT, WIDTH - 10, 8, plot);
    axis(svg, first, seconds, AREA);
    StringBuilder path = new StringBuilder("M" + Figures.at(LEFT, 8 + plot));
    for (int i = 0; i <= POINTS; i++) {
      double x = LEFT + (WIDTH - LEFT - 10.0) * i / POINTS;
      double y = 8 + plot * (1 - axis.share(BigDecimal.valueOf(most[i])));
      path.append('L').append(Figures.at(x, y));
    }
    svg.add(
        Tag.styled("path", "area").with("d", path + "L" + Figures.at(WIDTH - 10, 8 + plot) + "Z"),
        Tag.styled("path", "curve").with("d", path.toString()));
    return PageParts.figure(
        "How many of "
            + Figures.count(attempts.size())
            + " attempts ran at the same time. The table below has each row. UTC.",
        Table.scrolling("Timeline", svg));
  }

  /** Returns the slot after the last one that has a value, up to a slot. */
  private static int lastSet(int[] most, int slot) {
    int i = slot;
    while (i > 0 && most[i - 1] == 0) {
      i--;
    }
    return i;
  }
}
