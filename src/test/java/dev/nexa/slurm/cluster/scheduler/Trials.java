package dev.nexa.slurm.cluster.scheduler;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Runs the whole table on one scheduler, everything at once. */
public final class Trials {
  private static final Duration PATIENCE = Duration.ofMinutes(4);
  private static final long PAUSE_MILLIS = 200;

  private final Map<String, Instant> waitsSince = new HashMap<>();
  private final Scheduler scheduler;
  private final List<Trial> trials = new ArrayList<>();
  private final Instant since = Instant.now();

  public Trials(Scheduler scheduler, List<ScriptCase> table, Path base, String run) {
    this.scheduler = scheduler;
    for (ScriptCase row : table) {
      trials.add(new Trial(row, scheduler, run + "-" + trials.size(), base));
    }
  }

  /**
   * All outcomes, by the case's name.
   *
   * @param nudge called for what was requeued, for a scheduler that would make it wait
   */
  public Map<String, Trial.Outcome> run(Consumer<Trial> nudge)
      throws IOException, InterruptedException {
    for (Trial trial : trials) {
      trial.submit();
    }
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!step(nudge)) {
      if (Instant.now().isAfter(deadline)) {
        throw new AssertionError("not over in time on " + scheduler.name() + ": " + active());
      }
      Thread.sleep(PAUSE_MILLIS);
    }
    Map<String, Trial.Outcome> outcomes = new LinkedHashMap<>();
    trials.forEach(trial -> outcomes.put(trial.row.name, trial.outcome()));
    return outcomes;
  }

  private boolean step(Consumer<Trial> nudge) {
    boolean acted = true;
    for (Trial trial : trials) {
      acted &= trial.act();
    }
    Set<String> active = active();
    Set<String> waiting = pending();
    for (Trial trial : trials) {
      if (trial.requeued() && waiting.contains(trial.key)) {
        // Slurm kills a job that starts within the second of its requeue, for its old credential.
        Instant since = waitsSince.computeIfAbsent(trial.key, key -> Instant.now());
        if (Instant.now().isAfter(since.plusSeconds(2))) {
          nudge.accept(trial);
        }
      }
    }
    return acted && active.isEmpty() && settled();
  }

  private Set<String> pending() {
    Set<String> pending = new HashSet<>();
    for (QueueEntry entry : scheduler.queue()) {
      if (entry.state() == JobState.PENDING) {
        pending.add(entry.name());
      }
    }
    return pending;
  }

  private Set<String> active() {
    Set<String> keys = new HashSet<>();
    trials.forEach(trial -> keys.add(trial.key));
    Set<String> active = new HashSet<>();
    for (QueueEntry entry : scheduler.queue()) {
      if (entry.active() && keys.contains(entry.name())) {
        active.add(entry.name());
      }
    }
    return active;
  }

  private boolean settled() {
    List<AccountingRecord> rows = new ArrayList<>();
    List<Long> ids = trials.stream().map(Trial::jobId).toList();
    scheduler.accounting(AccountingQuery.byIds(ids, since), rows::add);
    trials.forEach(trial -> trial.note(rows));
    return trials.stream().allMatch(Trial::settled);
  }
}
