package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The releases that were in production, and when, by the lines of the history. Pure. */
public final class Production {
  private Production() {}

  /**
   * A time in which one release was in production, or none.
   *
   * @param release the release; empty if there was none
   * @param until the end; empty if it has not ended
   * @param unfinished whether the line about it announces a switch whose result is not known
   * @param line the line that says it
   */
  public record Period(
      Optional<String> release,
      Instant from,
      Optional<Instant> until,
      boolean unfinished,
      HistoryLine line) {
    /** Returns whether the period has a moment in common with the time. */
    public boolean touches(Instant begin, Instant end) {
      boolean beginsBefore = from.isBefore(end) || from.equals(begin);
      return beginsBefore && (until.isEmpty() || until.get().isAfter(begin));
    }

    private Period until(Optional<Instant> end) {
      return new Period(release, from, end, unfinished, line);
    }
  }

  /**
   * Returns the periods, oldest first. A release that is deployed is in production from the moment
   * when its deployment is announced.
   */
  public static List<Period> periods(List<HistoryLine> lines) {
    List<Period> periods = new ArrayList<>();
    for (HistoryLine line : lines) {
      Action action = line.what().action();
      int last = periods.size() - 1;
      switch (action) {
        case DEPLOYING -> begin(periods, line, true);
        case DEPLOYED -> {
          Period announced = last < 0 ? null : periods.get(last);
          if (announced != null
              && announced.unfinished()
              && announced.release().equals(line.what().release())) {
            periods.set(
                last,
                new Period(announced.release(), announced.from(), Optional.empty(), false, line));
          } else {
            begin(periods, line, false);
          }
        }
        case ABANDONED -> {
          if (last >= 0 && periods.get(last).unfinished()) {
            periods.remove(last);
            reopen(periods);
          }
        }
        case ROLLED_BACK, FOUND -> begin(periods, line, false);
        case ROLLING_BACK, TORN_TAIL -> {}
      }
    }
    return periods;
  }

  private static void begin(List<Period> periods, HistoryLine line, boolean unfinished) {
    int last = periods.size() - 1;
    if (last >= 0) {
      // The order of the lines counts: after a clock that went back, no period ends before it
      // began.
      Instant began = periods.get(last).from();
      Instant end = line.at().isBefore(began) ? began : line.at();
      periods.set(last, periods.get(last).until(Optional.of(end)));
    }
    periods.add(new Period(line.what().release(), line.at(), Optional.empty(), unfinished, line));
  }

  private static void reopen(List<Period> periods) {
    int last = periods.size() - 1;
    if (last >= 0) {
      periods.set(last, periods.get(last).until(Optional.empty()));
    }
  }

  /** Returns the releases whose deployment was completed, each once, the newest first. */
  public static List<String> deployed(List<HistoryLine> lines) {
    Set<String> releases = new LinkedHashSet<>();
    for (int i = lines.size() - 1; i >= 0; i--) {
      if (lines.get(i).what().action() == Action.DEPLOYED) {
        lines.get(i).what().release().ifPresent(releases::add);
      }
    }
    return List.copyOf(releases);
  }

  /** Returns whether a deployment of the release was ever completed. */
  public static boolean wasDeployed(List<HistoryLine> lines, String release) {
    return deployed(lines).contains(release);
  }

  /** Returns the lines that say that a deployment of the release with this content completed. */
  public static List<HistoryLine> deployments(
      List<HistoryLine> lines, String release, String digest) {
    return lines.stream()
        .filter(line -> line.what().action() == Action.DEPLOYED)
        .filter(line -> line.what().release().equals(Optional.of(release)))
        .filter(line -> line.what().digest().equals(Optional.of(digest)))
        .toList();
  }

  /**
   * Returns the releases that were rolled back, by a person or after a failed smoke test, and not
   * deployed since.
   */
  public static Set<String> rolledBack(List<HistoryLine> lines) {
    Set<String> releases = new LinkedHashSet<>();
    for (HistoryLine line : lines) {
      Action action = line.what().action();
      if (action == Action.ROLLED_BACK || action == Action.ROLLING_BACK) {
        line.what().from().ifPresent(releases::add);
      } else if (action == Action.DEPLOYED) {
        line.what().release().ifPresent(releases::remove);
      }
    }
    return releases;
  }

  /**
   * Returns the target of a rollback: the release that was deployed before the release in
   * production. A release of {@link #rolledBack} is left out, however often it was deployed before.
   * A release that was never deployed is left out, too: somebody led the link to it by hand.
   */
  public static Optional<String> before(List<HistoryLine> lines) {
    Deque<String> deployed = new ArrayDeque<>();
    for (HistoryLine line : lines) {
      Action action = line.what().action();
      Optional<String> release = line.what().release();
      if (action == Action.DEPLOYED) {
        deployed.push(release.orElseThrow());
      } else if (action == Action.ROLLED_BACK || action == Action.FOUND) {
        if (release.isPresent() && !deployed.contains(release.get())) {
          deployed.push(release.get());
        }
        while (!release.equals(Optional.ofNullable(deployed.peek()))) {
          deployed.pop();
        }
      }
    }
    if (deployed.size() < 2) {
      return Optional.empty();
    }
    String now = deployed.pop();
    Set<String> rolledBack = rolledBack(lines);
    return deployed.stream()
        .filter(release -> !release.equals(now))
        .filter(release -> !rolledBack.contains(release))
        .filter(release -> wasDeployed(lines, release))
        .findFirst();
  }
}
