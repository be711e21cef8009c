package dev.nexa.slurm.command.jobs.watch;

import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The content of the view, and the action of each key. Draws nothing and asks nobody. */
final class WatchScreen {
  /** The list, or the page that covers it. */
  enum Mode {
    LIST,
    LOG,
    WHY,
    HELP,
    CONFIRM
  }

  /** The action that a key asks of the caller. */
  enum Request {
    NONE,
    QUIT,
    REFRESH,
    LOG,
    WHY,
    CANCEL
  }

  /** Why there is no new snapshot, and since when. */
  record Outage(String reason, Instant since) {}

  /** A text that covers the list. */
  record Page(String title, List<String> lines) {}

  private static final List<String> HELP =
      List.of(
          "up, down, j, k     select a run or a pipeline; Page Up, Page Down, Home, End: further",
          "l, Enter           the log that the selected run wrote last, as it grows",
          "w                  says why the selected run waits or failed",
          "c                  cancels the selected run, after a question",
          "r                  reads everything now",
          "q, Esc             goes back; in the list, q ends the view. The runs go on.",
          "?                  this page",
          "",
          "COST is the cost until now, with what the running tasks have held. AT MOST is the reservation.",
          "Runs that end while you watch stay in the list. Slurm is asked once for each interval.");

  private Mode mode = Mode.LIST;
  private Optional<LiveSnapshot> snapshot = Optional.empty();
  private List<WatchItem> items = List.of();
  private String selected = "";
  private int index;
  private int top;
  private Optional<Outage> outage = Optional.empty();
  private Optional<Instant> asking = Optional.empty();
  private String message = "";
  private Page page = new Page("", List.of());
  private int scroll;
  private Optional<LogTail> tail = Optional.empty();
  private String tailOf = "";

  /** Takes a new snapshot. The selection stays on its run, also if the run has moved. */
  void show(LiveSnapshot next) {
    snapshot = Optional.of(next);
    items = WatchItem.of(next);
    outage = Optional.empty();
    asking = Optional.empty();
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i).id().equals(selected)) {
        index = i;
        return;
      }
    }
    select(index);
  }

  /** Takes the reason why there is no new snapshot; the last one stays. */
  void outage(String reason, Instant now) {
    outage = Optional.of(new Outage(reason, outage.map(Outage::since).orElse(now)));
  }

  /** Takes since when a snapshot is being taken, until the next one is there. */
  void asking(Instant since) {
    asking = Optional.of(since);
  }

  /** Takes the newest log of a run. */
  void log(String run, Optional<LogTail> newest) {
    int before = tail.map(old -> old.lines().size()).orElse(0);
    boolean same = run.equals(tailOf) && mode == Mode.LOG;
    tail = newest;
    tailOf = run;
    int after = tail.map(now -> now.lines().size()).orElse(0);
    if (same && scroll > 0) {
      // A reader who has scrolled up keeps the lines that are being read.
      scroll += Math.max(0, after - before);
    }
  }

  /** Shows what `why` says of a run, if the user still waits for it. */
  void why(String run, List<String> lines) {
    if (mode == Mode.WHY && page.title().equals(run)) {
      page = new Page(run, lines);
    }
  }

  /** Shows a sentence below the list until the next key. */
  void message(String sentence) {
    message = sentence;
  }

  /** Handles a key, as {@link WatchKeys} names it; an empty text is no key. */
  Request press(String key) {
    if (key.isEmpty()) {
      return Request.NONE;
    }
    message = "";
    return switch (mode) {
      case LIST -> inList(key);
      case CONFIRM -> {
        mode = Mode.LIST;
        boolean yes = key.equals("y") || key.equals("Y");
        message = yes ? "cancelling " + selected + " …" : "Nothing was cancelled.";
        yield yes ? Request.CANCEL : Request.NONE;
      }
      default -> inText(key);
    };
  }

  private Request inList(String key) {
    switch (key) {
      case "?", "h" -> open(Mode.HELP, "keys", HELP);
      case "down", "j" -> select(index + 1);
      case "up", "k" -> select(index - 1);
      case "pagedown", " " -> select(index + 10);
      case "pageup" -> select(index - 10);
      case "home", "g" -> select(0);
      case "end", "G" -> select(items.size() - 1);
      // Other keys do not move.
      default -> {}
    }
    return switch (key) {
      case "q", "ctrl-c", "eof" -> Request.QUIT;
      case "r" -> Request.REFRESH;
      case "l", "enter", "w", "c" -> ofSelected(key);
      default -> Request.NONE;
    };
  }

  private Request ofSelected(String key) {
    Optional<WatchItem> item = selected();
    if (item.isEmpty()) {
      message = "there is no run to select";
      return Request.NONE;
    }
    if (item.get().run().isEmpty()) {
      message =
          key.equals("c")
              ? "`nexa-slurm pipeline cancel " + selected + "` cancels the pipeline"
              : "select a run of the pipeline";
      return Request.NONE;
    }
    if (key.equals("w")) {
      open(Mode.WHY, selected, List.of("asking …"));
      return Request.WHY;
    }
    if (key.equals("c")) {
      boolean ended = item.get().run().get().row().status().ended();
      message = ended ? selected + " has ended: " + item.get().state() : "";
      mode = ended ? Mode.LIST : Mode.CONFIRM;
      return Request.NONE;
    }
    open(Mode.LOG, selected, List.of());
    return Request.LOG;
  }

  private void open(Mode next, String heading, List<String> lines) {
    mode = next;
    page = new Page(heading, lines);
    scroll = 0;
  }

  private Request inText(String key) {
    int up = mode == Mode.LOG ? 1 : -1;
    switch (key) {
      case "q", "esc", "left" -> mode = Mode.LIST;
      case "up", "k" -> scroll += up;
      case "down", "j" -> scroll -= up;
      case "pageup" -> scroll += up * 20;
      case "pagedown", " " -> scroll -= up * 20;
      case "home", "g" -> scroll = mode == Mode.LOG ? Integer.MAX_VALUE / 2 : 0;
      case "end", "G" -> scroll = mode == Mode.LOG ? 0 : Integer.MAX_VALUE / 2;
      // Other keys do not move.
      default -> {}
    }
    scroll = Math.max(0, scroll);
    return switch (key) {
      case "ctrl-c", "eof" -> Request.QUIT;
      case "r" -> mode == Mode.LOG ? Request.LOG : mode == Mode.WHY ? Request.WHY : Request.NONE;
      default -> Request.NONE;
    };
  }

  private void select(int wanted) {
    index = Math.max(0, Math.min(wanted, items.size() - 1));
    selected = items.isEmpty() ? "" : items.get(index).id();
  }

  /** Returns the selected line; empty if the list is empty. */
  Optional<WatchItem> selected() {
    return index < items.size() ? Optional.of(items.get(index)) : Optional.empty();
  }

  /** Returns the first line of the list on a screen with this many, so that the selection shows. */
  int top(int rows) {
    top = Math.max(0, Math.min(top, items.size() - rows));
    top = Math.max(index - rows + 1, Math.min(top, index));
    return Math.max(0, top);
  }

  /**
   * Returns how far the text is scrolled: lines from the top; of a log, lines from the end.
   *
   * @param most the largest value that makes sense
   */
  int scroll(int most) {
    scroll = Math.max(0, Math.min(scroll, most));
    return scroll;
  }

  Mode mode() {
    return mode;
  }

  Optional<LiveSnapshot> snapshot() {
    return snapshot;
  }

  List<WatchItem> items() {
    return items;
  }

  int index() {
    return index;
  }

  /** Returns why there is no new snapshot: also if an answer takes longer than two intervals. */
  Optional<Outage> outage(Instant now, Duration interval) {
    return outage.or(
        () ->
            asking
                .filter(since -> since.plus(interval.multipliedBy(2)).isBefore(now))
                .map(since -> new Outage("Slurm has not answered yet", since)));
  }

  String message() {
    return message;
  }

  Page page() {
    return page;
  }

  /** Returns the newest log of the selected run; empty if it is not read yet or there is none. */
  Optional<LogTail> tail() {
    return tailOf.equals(selected) ? tail : Optional.empty();
  }
}
