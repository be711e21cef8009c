package dev.nexa.slurm.command.jobs.watch;

import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.insight.live.LiveRun;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.TaskCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Lays out the lines of the screen. Pure. */
record WatchPicture(int width, int height, boolean colours) {
  private static final List<String> TITLES =
      List.of("RUN", "NAME", "STATE", "PROGRESS", "", "ELAPSED", "GPU", "COST", "AT MOST");
  private static final int NAME = 1;
  private static final int STATE = 2;
  private static final int BAR = 4;
  private static final int ELAPSED = 5;
  private static final int MOST = 8;
  private static final int LONGEST_NAME = 24;
  private static final int BAR_WIDTH = 30;

  /** In this order, columns are left out of a narrow screen. */
  private static final List<Integer> RARE = List.of(BAR, NAME, ELAPSED, MOST);

  /** On a lower screen the list needs all lines. */
  private static final int LEAST_FOR_DETAILS = 14;

  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneOffset.UTC);

  private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;

  WatchPicture {
    width = Math.max(1, width);
    height = Math.max(1, height);
  }

  /** Returns exactly as many lines as the screen has, in a list that JLine may change. */
  List<AttributedString> of(WatchScreen screen, Instant now, Duration interval) {
    List<AttributedString> lines = new ArrayList<>();
    lines.add(head(screen, interval));
    List<AttributedString> foot = foot(screen, now, interval);
    int rest = height - 1 - foot.size();
    lines.addAll(
        switch (screen.mode()) {
          case LIST, CONFIRM -> list(screen, now, interval, rest);
          case LOG -> log(screen, rest);
          case WHY, HELP -> page(screen, screen.page().title(), screen.page().lines(), rest);
        });
    while (lines.size() < height - foot.size()) {
      lines.add(AttributedString.EMPTY);
    }
    lines.addAll(foot);
    return new ArrayList<>(lines.subList(0, height));
  }

  private AttributedString head(WatchScreen screen, Duration interval) {
    Optional<LiveSnapshot> snapshot = screen.snapshot();
    StringBuilder left = new StringBuilder("nexa-slurm status");
    if (snapshot.isPresent()) {

      int pipelines = snapshot.get().pipelines().size();
      left.append("  ").append(Plural.of(snapshot.get().unfinished(), "unfinished run"));
      left.append(pipelines > 0 ? ", " + Plural.of(pipelines, "pipeline") : "");
    }
    String right =
        snapshot.isEmpty()
            ? ""
            : CLOCK.format(snapshot.get().at()) + " UTC, every " + Span.text(interval);
    return cut(pad(left.toString(), width - right.length()) + right, PLAIN.bold());
  }

  private List<AttributedString> foot(WatchScreen screen, Instant now, Duration interval) {
    List<AttributedString> foot = new ArrayList<>();
    AttributedStyle alarm = colours ? PLAIN.bold().foreground(AttributedStyle.RED) : PLAIN.bold();
    screen
        .outage(now, interval)
        .map(it -> "no answer since " + CLOCK.format(it.since()) + " UTC: " + it.reason())
        .ifPresent(line -> foot.add(cut(line, alarm)));
    if (screen.mode() == WatchScreen.Mode.CONFIRM) {
      String question =
          screen
              .selected()
              .flatMap(WatchItem::run)
              .map(run -> "Cancel " + run.id() + "? " + tasks(run) + "  y/n")
              .orElse("");
      foot.add(cut(question, PLAIN.bold()));
    } else if (!screen.message().isEmpty()) {
      foot.add(cut(screen.message(), PLAIN.bold()));
    }
    foot.add(
        cut(
            switch (screen.mode()) {
              case LIST -> "j/k select  l log  w why  c cancel  r refresh  ? help  q quit";
              case CONFIRM -> "y cancels the run  any other key: goes back";
              case LOG -> "j/k, Page Up, Page Down scroll  G newest line  q back";
              case WHY, HELP -> "j/k scroll  q back";
            },
            PLAIN.faint()));
    return foot;
  }

  private List<AttributedString> list(
      WatchScreen screen, Instant now, Duration interval, int rows) {
    List<AttributedString> lines = new ArrayList<>();
    Optional<LiveSnapshot> snapshot = screen.snapshot();
    if (snapshot.isEmpty()) {
      lines.add(cut(screen.outage(now, interval).isEmpty() ? "reading …" : "", PLAIN));
      return lines;
    }
    if (screen.items().isEmpty()) {
      lines.add(AttributedString.EMPTY);
      lines.add(cut("No unfinished runs. A new run appears here.", PLAIN));
      lines.add(cut("nexa-slurm runs list shows the runs that have ended.", PLAIN));
      lines.add(AttributedString.EMPTY);
      snapshot.get().budgets().forEach(budget -> lines.add(detail("budget", budget.words())));
      return lines.subList(0, Math.min(lines.size(), Math.max(0, rows)));
    }
    List<AttributedString> details =
        height >= LEAST_FOR_DETAILS ? details(screen, snapshot.get()) : List.of();
    int shown = Math.max(1, rows - 1 - details.size());
    int top = screen.top(shown);
    int end = Math.min(screen.items().size(), top + shown);
    lines.addAll(table(screen, top, end, Duration.between(snapshot.get().at(), now)));
    while (lines.size() < shown + 1) {
      lines.add(AttributedString.EMPTY);
    }
    lines.addAll(details);
    return lines;
  }

  private List<AttributedString> table(WatchScreen screen, int top, int end, Duration since) {
    List<List<String>> cells =
        screen.items().subList(top, end).stream().map(item -> cells(item, since)).toList();
    int[] widths = widths(cells);
    List<AttributedString> lines = new ArrayList<>();
    AttributedStringBuilder head = new AttributedStringBuilder();
    row(head, TITLES, widths, PLAIN.faint(), PLAIN.faint());
    lines.add(fit(head.toAttributedString()));
    for (int i = 0; i < cells.size(); i++) {
      boolean selected = top + i == screen.index();
      AttributedStyle style = selected ? PLAIN.inverse() : PLAIN;
      AttributedStyle state = state(screen.items().get(top + i).state(), style);
      AttributedStringBuilder line = new AttributedStringBuilder();
      row(line, cells.get(i), widths, style, state);
      if (selected) {
        line.styled(style, " ".repeat(Math.max(0, width - line.columnLength())));
      }
      lines.add(fit(line.toAttributedString()));
    }
    return lines;
  }

  private static List<String> cells(WatchItem item, Duration since) {
    String name = VisibleText.line(item.name());
    return List.of(
        (item.stage().isPresent() ? "  " : "") + VisibleText.line(item.id()),
        name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME - 1) + "…" : name,
        VisibleText.line(item.state()),
        item.progress(),
        item.run().map(run -> bar(run, BAR_WIDTH)).orElse(""),
        item.elapsed(since),
        item.gpu(),
        item.cost(),
        item.most());
  }

  /** Returns the columns' widths; 0 for a column that is left out. */
  private int[] widths(List<List<String>> cells) {
    int[] widths = new int[TITLES.size()];
    for (int column = 0; column < widths.length; column++) {
      for (List<String> row : cells) {
        widths[column] = Math.max(widths[column], columns(row.get(column)));
      }
      widths[column] =
          widths[column] == 0 ? 0 : Math.max(widths[column], TITLES.get(column).length());
    }
    for (int rare : RARE) {
      if (whole(widths) > width) {
        widths[rare] = 0;
      }
    }
    return widths;
  }

  private static int whole(int[] widths) {
    return Arrays.stream(widths).map(each -> each == 0 ? 0 : each + 2).sum() - 2;
  }

  private static void row(
      AttributedStringBuilder line,
      List<String> cells,
      int[] widths,
      AttributedStyle style,
      AttributedStyle state) {
    for (int column = 0; column < widths.length; column++) {
      if (widths[column] == 0) {
        continue;
      }
      String cell = cells.get(column);
      String blanks = " ".repeat(Math.max(0, widths[column] - columns(cell)));
      line.styled(style, line.length() == 0 ? "" : "  ");
      line.styled(
          column == STATE ? state : style, column >= ELAPSED ? blanks + cell : cell + blanks);
    }
  }

  /** Returns a bar of the tasks: {@code [####!>>....]}; empty for a run of one task. */
  static String bar(LiveRun run, int size) {
    TaskCounts tasks = run.row().tasks();
    if (tasks.all() < 2) {
      return "";
    }
    StringBuilder bar = new StringBuilder("[");
    int[] counts = {tasks.done(), tasks.failed() + tasks.cancelled(), tasks.running()};
    String signs = "#!>";
    long before = 0;
    for (int kind = 0; kind < counts.length; kind++) {
      long from = before * size / tasks.all();
      before += counts[kind];
      long until = before * size / tasks.all();
      // A single failed task must show, however many tasks there are.
      until = counts[kind] > 0 ? Math.max(until, from + 1) : until;
      while (bar.length() - 1 < Math.min(until, size)) {
        bar.append(signs.charAt(kind));
      }
    }
    return bar.append(".".repeat(size - bar.length() + 1)).append(']').toString();
  }

  private List<AttributedString> details(WatchScreen screen, LiveSnapshot snapshot) {
    List<AttributedString> lines = new ArrayList<>();
    lines.add(cut("-".repeat(width), PLAIN.faint()));
    WatchItem item = screen.selected().orElseThrow();
    if (item.run().isEmpty()) {
      lines.add(detail("pipeline", item.id() + "  " + item.name()));
      lines.add(detail("state", item.state() + ", " + item.progress()));
      PipelineProgress pipeline = item.pipeline().orElseThrow();
      lines.add(detail("cost", words(pipeline.cost()) + " of at most " + pipeline.file().total()));
      pipeline.stages().stream()
          .filter(stage -> !stage.ended() && !stage.why().isEmpty())
          .findFirst()
          .ifPresent(stage -> lines.add(detail("why", stage.stage().name() + ": " + stage.why())));
      return lines;
    }
    LiveRun run = item.run().get();
    RunRow row = run.row();
    String more =
        row.name().map(name -> "  " + name).orElse("")
            + row.jobId().map(job -> ", job " + job).orElse("")
            + row.user().map(user -> ", of " + user).orElse("");
    lines.add(detail("run", row.runId() + more));
    lines.add(detail("tasks", counts(run)));
    lines.add(detail("cost", cost(run)));
    snapshot.budgets().stream()
        .filter(budget -> run.budgets().contains(budget.name()))
        .forEach(budget -> lines.add(detail("budget", budget.words())));
    String note = item.stage().map(stage -> stage.why()).filter(why -> !why.isEmpty()).orElse("");
    note = note.isEmpty() ? row.forPeople().note() : note;
    if (!note.isEmpty()) {
      lines.add(detail(row.status().ended() ? "note" : "why", note));
    }
    screen.tail().ifPresent(tail -> lines.add(detail("log", lastLine(tail, row.tasks().all()))));
    snapshot.problems().stream().limit(2).forEach(problem -> lines.add(detail("note", problem)));
    return lines;
  }

  private static String lastLine(LogTail tail, int tasks) {
    for (int i = tail.lines().size() - 1; i >= 0; i--) {
      if (!tail.lines().get(i).isBlank()) {
        return (tasks > 1 ? "task " + tail.task() + ": " : "") + tail.lines().get(i);
      }
    }
    return "";
  }

  private static String tasks(LiveRun run) {
    return Plural.of(run.row().tasks().all(), "task") + ": " + counts(run);
  }

  private static String counts(LiveRun run) {
    TaskCounts tasks = run.row().tasks();
    return Stream.of(
            tasks.done() + " done",
            tasks.running() + " running",
            tasks.pending() + " pending",
            tasks.failed() + " failed",
            tasks.cancelled() + " cancelled")
        .filter(part -> !part.startsWith("0 "))
        .collect(Collectors.joining(", "));
  }

  private static String cost(LiveRun run) {
    return words(run.cost())
        + run.reserved().map(most -> " of at most " + most).orElse("")
        + run.percent().map(used -> " (" + used + " %)").orElse("")
        + run.row().spent().lacks().map(lacks -> ", without " + lacks).orElse("");
  }

  private static String words(Money cost) {
    return cost.rounded().words(cost.amount());
  }

  private AttributedString detail(String what, String text) {
    return cut(pad(what, 8) + " " + text, PLAIN);
  }

  private List<AttributedString> log(WatchScreen screen, int rows) {
    Optional<LogTail> tail = screen.tail();
    String of = tail.map(log -> ", task " + log.task()).orElse("");
    String title = "log of " + screen.page().title() + of;
    return tail.isEmpty()
        ? List.of(cut(title, PLAIN.bold()), cut("It has printed nothing yet.", PLAIN))
        : page(screen, title, tail.get().lines(), rows);
  }

  /** Returns a page of a text below its title; a log is scrolled up from its end. */
  private List<AttributedString> page(
      WatchScreen screen, String title, List<String> text, int rows) {
    List<AttributedString> folded = folded(text);
    int room = Math.max(0, rows - 1);
    int last = Math.max(0, folded.size() - room);
    int scrolled = screen.scroll(last);
    int from = screen.mode() == WatchScreen.Mode.LOG ? last - scrolled : scrolled;
    List<AttributedString> lines = new ArrayList<>();
    lines.add(cut(title, PLAIN.bold()));
    lines.addAll(folded.subList(from, Math.min(folded.size(), from + room)));
    return lines;
  }

  /** Breaks lines that are longer than the screen is wide. */
  private List<AttributedString> folded(List<String> text) {
    List<AttributedString> lines = new ArrayList<>();
    for (String line : text) {
      AttributedString whole = new AttributedString(VisibleText.line(line.replace("\t", "    ")));
      lines.addAll(
          whole.length() == 0 ? List.of(AttributedString.EMPTY) : whole.columnSplitLength(width));
    }
    return lines;
  }

  private AttributedStyle state(String state, AttributedStyle style) {
    if (!colours) {
      return style;
    }
    return switch (state) {
      case "running", "completed" -> style.foreground(AttributedStyle.GREEN);
      case "failed", "blocked", "out_of_memory", "timeout", "node_fail" ->
          style.foreground(AttributedStyle.RED);
      default -> style.foreground(AttributedStyle.YELLOW);
    };
  }

  /** Texts of users and jobs may hold sequences that a terminal would obey. */
  private AttributedString cut(String text, AttributedStyle style) {
    return fit(new AttributedString(VisibleText.line(text), style));
  }

  private AttributedString fit(AttributedString line) {
    return line.columnLength() > width ? line.columnSubSequence(0, width) : line;
  }

  private static int columns(String text) {
    return new AttributedString(text).columnLength();
  }

  private static String pad(String text, int size) {
    return text + " ".repeat(Math.max(1, size - columns(text)));
  }
}
