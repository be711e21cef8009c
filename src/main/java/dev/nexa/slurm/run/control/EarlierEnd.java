package dev.nexa.slurm.run.control;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ChangedFileException;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The end of a run or task that ended before somebody asked to cancel it.
 *
 * @param state how it ended, in lower case, such as {@code completed}
 * @param at when it ended; empty if no source says it
 */
public record EarlierEnd(String state, Optional<Instant> at) {

  /**
   * Returns the end of the run or of one task. Asks the scheduler if the run is not settled, and
   * writes nothing.
   *
   * @param task the task; empty for the whole run
   * @return empty if a part of it may still wait or run, or if a pass may submit it again. Also
   *     empty if it is another user's, if its files were edited, or if the scheduler cannot be
   *     asked. In these cases {@code cancel} does its work
   */
  public static Optional<EarlierEnd> of(Context context, RunFolder run, OptionalInt task) {
    if (run.isOfAnotherUser() || !run.hasJournal()) {
      return Optional.empty();
    }
    RunState state = RunState.of(run.journal().read());
    if (state.finished()) {
      return Optional.of(recorded(run, task));
    }
    if (state.submissions().isEmpty() || Files.notExists(run.plan())) {
      return Optional.empty();
    }
    try {
      return askScheduler(context, run, state, task);
    } catch (SchedulerUnavailable | ChangedFileException notKnown) {
      return Optional.empty();
    }
  }

  private static EarlierEnd recorded(RunFolder run, OptionalInt task) {
    ManifestFile manifest = ManifestFile.read(run);
    EarlierEnd end = new EarlierEnd(manifest.state(), manifest.ended());
    if (task.isEmpty() || Files.notExists(run.cost())) {
      return end;
    }
    CostFile cost = CostFile.read(run);
    return cost.attempts().stream()
        .filter(attempt -> attempt.task() == task.getAsInt())
        .reduce((earlier, later) -> later)
        .map(
            attempt ->
                new EarlierEnd(
                    attempt.state().toLowerCase(Locale.ROOT),
                    attempt.start().map(start -> start.plusSeconds(attempt.elapsedSeconds()))))
        .orElse(end);
  }

  private static Optional<EarlierEnd> askScheduler(
      Context context, RunFolder run, RunState state, OptionalInt task) {
    TaskEvidence evidence =
        TaskEvidence.gather(context.scheduler(RunLookup.scheduler(run)), List.of(state));
    RunOutcome outcome =
        evidence.outcome(run, RunFacts.of(run, ProvenFiles.of(run)), state, new ArrayList<>());
    List<TaskOutcome> asked =
        outcome.tasks().stream()
            .filter(one -> task.isEmpty() || one.task() == task.getAsInt())
            .toList();
    if (!asked.stream().allMatch(EarlierEnd::isOver)) {
      return Optional.empty();
    }
    Optional<Instant> last =
        asked.stream().flatMap(one -> end(one).stream()).max(Comparator.naturalOrder());
    return task.isPresent() && !asked.isEmpty()
        ? Optional.of(new EarlierEnd(asked.get(0).state().name().toLowerCase(Locale.ROOT), last))
        : Optional.of(new EarlierEnd(outcome.state(), last)).filter(end -> outcome.ended());
  }

  /** A task that was refused or lost has ended, too, but a pass may submit it again. */
  private static boolean isOver(TaskOutcome task) {
    return task.ended()
        && !task.queued()
        && (end(task).isPresent() || task.state() == JobState.CANCELLED);
  }

  private static Optional<Instant> end(TaskOutcome task) {
    List<AccountingRecord> attempts = task.attempts();
    return attempts.isEmpty() ? Optional.empty() : attempts.get(attempts.size() - 1).end();
  }
}
