package dev.nexa.slurm.scheduler.local;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A job's attempts so far: the fold of its events. Tasks are in the order of their indices. */
final class History {
  private final Map<Integer, List<Attempt>> attempts = new LinkedHashMap<>();

  /** A job of which nothing happened yet. */
  History(Job job) {
    for (int task : job.tasks().indices()) {
      Attempt first = Attempt.first(task, job.id(), job.submission().submitted());
      attempts.put(task, new ArrayList<>(List.of(first)));
    }
  }

  /** Takes note of one event; one of a task that the job lacks says nothing. */
  void apply(Event event) {
    List<Attempt> all = attempts.get(event.task());
    if (all == null) {
      return;
    }
    Attempt last = all.get(all.size() - 1);
    Attempt now =
        switch (event.kind()) {
          case START -> last.started(event.at(), event.raw());
          case END -> last.ended(event.at(), event.state(), event.exitCode(), event.again());
          case GONE -> last.gone();
        };
    all.set(all.size() - 1, now);
    if (now.over() && now.again()) {
      all.add(now.next(event.at()));
    }
  }

  boolean has(int task) {
    return attempts.containsKey(task);
  }

  /** The newest attempt of a task that the job has. */
  Attempt last(int task) {
    List<Attempt> all = attempts.getOrDefault(task, List.of());
    return all.get(all.size() - 1);
  }

  /** The newest attempts that are so, in the order of tasks. */
  List<Attempt> last(Predicate<Attempt> so) {
    List<Attempt> found = new ArrayList<>();
    for (List<Attempt> all : attempts.values()) {
      Attempt last = all.get(all.size() - 1);
      if (so.test(last)) {
        found.add(last);
      }
    }
    return found;
  }

  /** Whether some task is pending, running, or still has processes. */
  boolean open() {
    for (List<Attempt> all : attempts.values()) {
      if (!all.get(all.size() - 1).over()) {
        return true;
      }
    }
    return false;
  }

  /** All attempts of all tasks, the oldest of each task first. */
  List<Attempt> all() {
    List<Attempt> found = new ArrayList<>();
    for (Collection<Attempt> some : attempts.values()) {
      found.addAll(some);
    }
    return found;
  }

  /** How many tasks never had a job id of their own. */
  long unnumbered() {
    return last(attempt -> attempt.pending() && attempt.restart() == 0).size();
  }
}
