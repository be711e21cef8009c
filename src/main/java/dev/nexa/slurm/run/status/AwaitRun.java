package dev.nexa.slurm.run.status;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Implements {@code --wait}: reconciles one run until it has ended. The pause grows from 0.5 to 30
 * seconds while nothing changes.
 */
public record AwaitRun(Context context, Duration patience) {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  /** How long accounting may disagree with the jobs' end. After that the wait is given up. */
  public static final Duration PATIENCE = Duration.ofMinutes(10);

  public AwaitRun(Context context) {
    this(context, PATIENCE);
  }

  /**
   * Waits until the run has ended.
   *
   * @param progress receives a line when the state or the task counts change
   * @return the final manifest
   * @throws NexaException if the run's files are broken, if all of its tasks ended 10 minutes ago
   *     and accounting still cannot settle it, or if the run can never start
   */
  public ManifestFile await(RunFolder run, Consumer<String> progress) {
    return await(run, progress, (tasks, bytes) -> {});
  }

  /**
   * Waits until the run has ended, as {@link #await(RunFolder, Consumer)} does.
   *
   * @param tasks receives the tasks that have ended
   */
  public ManifestFile await(RunFolder run, Consumer<String> progress, Progress.Running tasks) {
    long ended = 0;
    ReconcileRuns reconcile = new ReconcileRuns(context);
    Duration pause = FIRST;
    String last = "";
    Instant changed = Instant.now();
    Set<String> problems = Set.of();
    while (true) {
      Set<String> before = problems;
      Set<String> told = new LinkedHashSet<>();
      if (pass(reconcile, run, told::add).contains(run.id())) {
        requireCanStart(run);
      }
      // Each pass finds a lasting problem again.
      told.stream().filter(problem -> !before.contains(problem)).forEach(progress);
      problems = told;
      ManifestFile manifest = ManifestFile.read(run);
      // A requeue takes a task back.
      long earlier = ended;
      ended = endedTasks(manifest);
      tasks.done(ended - earlier, 0);
      String now = state(run, manifest);
      if (!now.equals(last)) {
        progress.accept(run.id() + ": " + now);
        last = now;
        pause = FIRST;
        changed = Instant.now();
      }
      if (manifest.status().ended()) {
        return manifest;
      }
      boolean rests = ended == manifest.tasks() || isLost(manifest);
      if (rests && changed.plus(patience).isBefore(Instant.now())) {
        throw notSettled(run, manifest);
      }
      pause = sleep(pause, LONGEST);
    }
  }

  /** Throws if no task of the run can ever start; asks the queue once more, for the words. */
  private void requireCanStart(RunFolder run) {
    Optional<RunRow> stuck = row(run).filter(RunRow::stuck);
    if (stuck.isPresent()) {
      throw RunRow.neverStarts(run.id().value(), stuck.get().note());
    }
  }

  private Optional<RunRow> row(RunFolder run) {
    return new StatusRows(context).rows(List.of(run.id()), new ArrayList<>()).stream().findFirst();
  }

  /** Returns whether it can never be known how a task ended. */
  private static boolean isLost(ManifestFile manifest) {
    return manifest.state().equals(RunOutcome.UNKNOWN) && !manifest.disagreements().isEmpty();
  }

  private static long endedTasks(ManifestFile manifest) {
    return manifest.states().members().keySet().stream()
        .filter(state -> JobState.parse(state).endsTask())
        .mapToLong(manifest.states()::number)
        .sum();
  }

  /**
   * Returns the error for a run whose state no source shows: it is useless to wait for it.
   *
   * @param why what is not known
   */
  public static NexaException unknown(RunId run, String why) {
    return ErrorCode.RUN_STATE_UNKNOWN.error(
        why,
        Advice.command("tells more", "nexa-slurm", "why", run),
        Advice.command(
            "ends the run as failed, if it did not do its work", "nexa-slurm", "cancel", run),
        Advice.command("says what can have happened", "nexa-slurm", "explain", "docs/outages.md"));
  }

  /** Returns the error for a run that has ended, and that accounting does not settle. */
  public static NexaException notSettled(RunFolder run, ManifestFile manifest) {
    List<String> why = manifest.disagreements();
    if (isLost(manifest)) {
      return unknown(run.id(), run.id() + ": " + String.join("; ", why));
    }
    return ErrorCode.SLURM_ANSWER_UNUSABLE.error(
        ("%s has ended (%s), but Slurm's accounting does not settle it%s. Later passes of"
                + " `nexa-slurm reconcile` settle it; nobody has to wait for them")
            .formatted(
                run.id(), tasks(manifest), why.isEmpty() ? "" : ": " + String.join("; ", why)),
        Advice.command("shows its state", "nexa-slurm", "status", run.id()),
        Advice.command("says how long it can take", "nexa-slurm", "explain", "docs/outages.md"));
  }

  /**
   * Makes one pass over the run. An outage is reported as progress: the job continues in Slurm.
   *
   * @return the run if one of its tasks waits for what cannot happen any more
   */
  public static Set<RunId> pass(ReconcileRuns reconcile, RunFolder run, Consumer<String> progress) {
    try {
      ReconcileRuns.Pass pass = reconcile.reconcile(List.of(run.id()));
      problems(pass).forEach(progress);
      return pass.stuck();
    } catch (SchedulerUnavailable outage) {
      progress.accept(String.valueOf(outage.getMessage()));
      return Set.of();
    }
  }

  /**
   * Returns a pass's problems.
   *
   * @throws NexaException if a run's files are broken: it is useless to wait for it
   */
  public static List<String> problems(ReconcileRuns.Pass pass) {
    if (!pass.broken().isEmpty()) {
      throw ErrorCode.RECORD_DAMAGED.error(
          String.join("\n", pass.problems()),
          Advice.command("", "nexa-slurm", "explain", "docs/recovery.md"));
    }
    return pass.problems();
  }

  /** Returns the run's state, and why it waits if none of its tasks has begun. */
  private String state(RunFolder run, ManifestFile manifest) {
    String state = summary(manifest);
    if (!manifest.states().members().keySet().equals(Set.of(RunOutcome.PENDING))) {
      return state;
    }
    try {
      Optional<RunRow> row = row(run);
      // A run that has left the queue would seem to wait again.
      return row.filter(it -> it.hasLeft() || it.status().ended()).isPresent()
          ? "ending; " + RunRow.LEFT
          : state + row.flatMap(RunRow::waitsBecause).map(why -> "; " + why).orElse("");
    } catch (SchedulerUnavailable outage) {
      // The pass reports an outage.
      return state;
    }
  }

  private static String summary(ManifestFile manifest) {
    boolean waits = RunOutcome.waits(manifest.state());
    String tasks = tasks(manifest);
    return (waits ? "queued" : manifest.state()) + (tasks.isEmpty() ? "" : " (" + tasks + ")");
  }

  /** Returns {@code 3 completed, 1 failed}; empty if the run was never submitted. */
  private static String tasks(ManifestFile manifest) {
    return manifest.states().members().keySet().stream()
        .map(state -> manifest.states().number(state) + " " + state)
        .collect(Collectors.joining(", "));
  }

  /**
   * Sleeps, and returns the next pause: half as long again, and at most the longest.
   *
   * @throws IllegalStateException if the thread is interrupted
   */
  public static Duration sleep(Duration pause, Duration longest) {
    Sleep.millis(pause.toMillis(), "waiting");
    Duration longer = pause.multipliedBy(3).dividedBy(2);
    return longer.compareTo(longest) > 0 ? longest : longer;
  }
}
