package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Says of each run of the workspace whether it is over for long enough, by its journal and by the
 * scheduler's queue. Each scheduler is asked once, when its first run is looked at.
 */
final class EndedRuns {
  private final Workspace workspace;
  private final Function<String, Scheduler> schedulers;
  private final Instant now;
  private final Duration age;
  private final Map<String, Queued> queues = new HashMap<>();
  private final Map<RunId, Optional<String>> known = new HashMap<>();

  /** The list of a scheduler: the runs of the jobs' names, and the jobs' ids. */
  private record Queued(Set<RunId> runs, Set<Long> jobs) {}

  EndedRuns(
      Workspace workspace, Function<String, Scheduler> schedulers, Instant now, Duration age) {
    this.workspace = workspace;
    this.schedulers = schedulers;
    this.now = now;
    this.age = age;
  }

  /**
   * Returns why the files of a run must stay; empty if it has ended for long enough.
   *
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  Optional<String> reasonToKeep(RunId id) {
    return known.computeIfAbsent(id, this::judge);
  }

  private Optional<String> judge(RunId id) {
    RunFolder run = workspace.run(id);
    if (!run.exists() || !run.hasJournal()) {
      return Optional.of("the folder of its run, " + run.path() + ", has no journal");
    }
    if (run.isOfAnotherUser()) {
      return Optional.of("it belongs to " + run.owner() + ", who can clean it up");
    }
    if (run.isOpen()) {
      return Optional.of("its run has not ended");
    }
    List<Event> events;
    RunState state;
    try {
      events = run.journal().read();
      state = RunState.of(events);
    } catch (RuntimeException broken) {
      return Optional.of("the journal of its run cannot be read");
    }
    if (!state.finished()) {
      return Optional.of("its run has not ended");
    }
    Instant ended = Instant.EPOCH;
    for (Event event : events) {
      ended = event.type() == Event.Type.FINISHED ? event.at() : ended;
    }
    return ended.isAfter(now.minus(age))
        ? Optional.of("its run ended less than " + Span.text(age) + " ago")
        : scheduler(events).flatMap(scheduler -> inQueue(id, scheduler, state));
  }

  private Optional<String> inQueue(RunId id, String scheduler, RunState state) {
    Queued queued = queues.computeIfAbsent(scheduler, this::ask);
    boolean listed = queued.runs().contains(id);
    for (Submission submission : state.submissions()) {
      listed |= submission.jobId().isPresent() && queued.jobs().contains(submission.jobId().get());
      listed |= submission.duplicates().stream().anyMatch(queued.jobs()::contains);
    }
    return listed ? Optional.of("a job of its run is in the queue") : Optional.empty();
  }

  private Queued ask(String scheduler) {
    Set<RunId> runs = new HashSet<>();
    Set<Long> jobs = new HashSet<>();
    for (QueueEntry entry : schedulers.apply(scheduler).wholeQueue()) {
      // For some minutes squeue also lists jobs that have ended.
      if (entry.active()) {
        RunId.ofKey(entry.name()).ifPresent(runs::add);
        jobs.add(entry.arrayJobId());
        jobs.add(entry.rawJobId());
      }
    }
    return new Queued(runs, jobs);
  }

  /** Returns the scheduler of the run's jobs; empty if none was ever submitted. */
  private static Optional<String> scheduler(List<Event> events) {
    return events.stream()
        .filter(event -> event.type() == Event.Type.SUBMITTING)
        .map(event -> event.data().optionalText("scheduler").orElse("slurm"))
        .reduce((before, last) -> last);
  }
}
