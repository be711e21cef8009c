package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.CleanupId;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.State;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Implements {@code cleanup}: plans what may go, moves it into the trash, deletes old trash, and
 * brings trash back. One process at a time works in a workspace.
 *
 * @param schedulers returns the scheduler with a name, to read its queue
 * @param lastCopies is asked before paths are deleted from the trash
 */
public record CleanTiers(
    Workspace workspace,
    ConfigReader configs,
    Function<String, Scheduler> schedulers,
    LastCopies lastCopies,
    Progress progress) {
  private static final Phase MEASURING = Phase.of("measuring", "files");
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /**
   * A cleanup that was planned.
   *
   * @param due cleanups whose trash is deleted now, with the paths that may be deleted
   * @param lastCopies paths in the trash that stay although their time is over, because the bundle
   *     of their run is not there
   */
  public record Planned(
      CleanupPlan plan,
      List<State> due,
      List<KeptPath> lastCopies,
      Settings settings,
      List<TierRoot> roots,
      Instant now) {
    /** Returns whether there is nothing to do. */
    public boolean isEmpty() {
      return plan.candidates().isEmpty() && due.isEmpty();
    }

    /** Returns the bytes of the trash that is deleted now. */
    public long dueBytes() {
      return due.stream().mapToLong(State::bytesInTrash).sum();
    }
  }

  /**
   * The result of a cleanup or of an undo.
   *
   * @param id the cleanup; empty if nothing was moved
   * @param moved what was moved into the trash, or brought back
   * @param deleted what was deleted from the trash
   * @param failed what could not be moved or deleted, and why
   */
  public record Done(
      Optional<CleanupId> id,
      List<TrashedPath> moved,
      List<TrashedPath> deleted,
      List<KeptPath> failed) {}

  /**
   * The user's cleanups of this workspace.
   *
   * @param states what the journals say, oldest first
   * @param problems a sentence for each journal that is damaged
   */
  public record Journals(List<State> states, List<String> problems) {}

  /**
   * Plans a cleanup. Changes nothing.
   *
   * @param roots the tiers in which paths may go
   * @throws NexaException if a document that may refer to files cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  public Planned plan(Settings settings, List<TierRoot> roots, Instant now) {
    Set<Path> inTrash = new HashSet<>();
    List<State> due = new ArrayList<>();
    List<KeptPath> last = new ArrayList<>();
    Journals journals = journals();
    for (State state : journals.states()) {
      state.inTrash().forEach(path -> inTrash.add(path.full()));
      if (!state.inTrash().isEmpty() ? state.left(now).isZero() : hasEmptyTrash(state)) {
        deletable(state, last).ifPresent(due::add);
      }
    }
    EndedRuns runs = new EndedRuns(workspace, schedulers, now, settings.age());
    // A server or a registry of another profile's tiers may need a checkpoint of these.
    Set<TierRoot> all = new LinkedHashSet<>(roots);
    all.addAll(TierRoot.of(configs, workspace.root(), Optional.empty()));
    CleanupPlan plan;
    try (Running measuring = progress.begin(MEASURING)) {
      plan =
          new FindCandidates(workspace, runs, settings, now, inTrash, measuring)
              .find(configs, roots, List.copyOf(all));
    }
    journals.problems().forEach(plan::problem);
    return new Planned(plan, due, last, settings, roots, now);
  }

  /**
   * Returns a cleanup without the paths that must stay in the trash; empty if nothing is left.
   *
   * @param last gets the paths that stay
   */
  private Optional<State> deletable(State state, List<KeptPath> last) {
    Map<TrashedPath, String> reasons = lastCopies.reasonsToKeep(state.inTrash(), false);
    reasons.forEach((path, why) -> last.add(stays(state, path, why)));
    List<TrashedPath> rest = new ArrayList<>(state.paths());
    rest.removeAll(reasons.keySet());
    return reasons.isEmpty() || rest.stream().anyMatch(TrashedPath::mayBeInTrash)
        ? Optional.of(new State(state.id(), state.at(), state.host(), state.deleteAfter(), rest))
        : Optional.empty();
  }

  private static KeptPath stays(State state, TrashedPath path, String why) {
    return new KeptPath(
        path.held(),
        why + "; it stays in the trash; to bring it back: nexa-slurm cleanup --undo " + state.id());
  }

  /** Returns whether a killed process left the empty trash of a cleanup. */
  private static boolean hasEmptyTrash(State state) {
    return state.paths().stream()
        .map(path -> path.held().getParent())
        .anyMatch(trash -> trash != null && Files.isDirectory(trash, LinkOption.NOFOLLOW_LINKS));
  }

  /**
   * Finds all durable folders of runs, whatever their age. Changes nothing.
   *
   * @param roots the tiers that may hold references
   * @param why the words of the cleanup's journal
   * @throws NexaException if a document that may refer to the runs cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  public List<WholeRun> whole(List<RunId> runs, List<TierRoot> roots, String why, Instant now) {
    EndedRuns ended = new EndedRuns(workspace, schedulers, now, Duration.ZERO);
    try (Running measuring = progress.begin(MEASURING)) {
      return new FindWholeRuns(workspace, ended, now, measuring).find(runs, configs, roots, why);
    }
  }

  /**
   * Moves the durable folders of a run into the trash, as {@link #run} does: it finds them again
   * under the lock, and moves none if one has changed.
   *
   * @param run a run that has folders, and may go
   * @param grace how long they stay there
   * @param check called under the lock before the first move; throws if nothing may be moved
   */
  public Done move(
      WholeRun run, Duration grace, List<TierRoot> roots, Instant now, Runnable check) {
    Settings settings = new Settings(Duration.ZERO, 0, grace, Optional.of(Tier.DURABLE));
    CleanupPlan plan = new CleanupPlan();
    run.folders().forEach(plan::remove);
    return run(
        new Planned(plan, List.of(), List.of(), settings, roots, now),
        () -> {
          CleanupPlan again = planAgain(run, roots, now);
          check.run();
          return new Planned(again, List.of(), List.of(), settings, roots, now);
        });
  }

  private CleanupPlan planAgain(WholeRun run, List<TierRoot> roots, Instant now) {
    WholeRun again = whole(List.of(run.run()), roots, run.folders().get(0).why(), now).get(0);
    CleanupPlan plan = new CleanupPlan();
    if (again.folders().equals(run.folders())) {
      again.folders().forEach(plan::remove);
    } else {
      String reason = again.kept().orElse("its run's files changed since they were looked at");
      run.folders().forEach(folder -> plan.keep(folder.full(), reason));
    }
    return plan;
  }

  /** Reads the journals of the user's cleanups. */
  public Journals journals() {
    List<State> states = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (CleanupJournal journal : CleanupJournal.all(workspace)) {
      try {
        if (!journal.isOfAnotherUser()) {
          journal.read().ifPresent(states::add);
        }
      } catch (NexaException | UncheckedIOException damaged) {
        problems.add(
            damaged.getMessage() + "; what this cleanup left in the trash stays there for now");
      }
    }
    return new Journals(states, problems);
  }

  /**
   * Does what was planned: first deletes old trash, then moves the candidates.
   *
   * <p>A person may think about a plan for minutes. So this method plans again under the lock, and
   * acts only on what is in both plans. It also locks each run while its files are moved: a run
   * that was started again keeps them.
   */
  public Done run(Planned planned) {
    return run(planned, () -> plan(planned.settings(), planned.roots(), planned.now()));
  }

  private Done run(Planned planned, Supplier<Planned> plans) {
    try (FileLock lock = lock()) {
      settleMoves();
      Planned again = plans.get();
      List<KeptPath> failed = new ArrayList<>();
      List<TrashedPath> deleted = new ArrayList<>();
      List<State> due = new ArrayList<>(again.due());
      due.removeIf(one -> planned.due().stream().noneMatch(it -> it.id().equals(one.id())));
      due.forEach(state -> delete(state, deleted, failed));
      List<Candidate> candidates = inBoth(planned.plan(), again.plan(), failed);
      if (candidates.isEmpty()) {
        return new Done(Optional.empty(), List.of(), deleted, failed);
      }
      CleanupId id = CleanupId.of(planned.now());
      CleanupJournal journal = new CleanupJournal(workspace, id);
      journal.begin(workspace, planned.now(), planned.settings(), ProcessIdentity.localHost());
      workspace.files().passed(CleanupStep.BEGUN);
      Trash trash = new Trash(journal, workspace.files(), Optional.empty());
      try (Running moving = progress.begin(Phase.of("moving", "paths", candidates.size()))) {
        move(trash, candidates, planned, lock, failed, moving);
      }
      List<TrashedPath> moved =
          journal.read().map(State::paths).orElse(List.of()).stream()
              .filter(CleanTiers::isInTrash)
              .toList();
      return new Done(Optional.of(id), moved, deleted, failed);
    }
  }

  /** Returns whether this cleanup moved the path, also if it could not write that down. */
  private static boolean isInTrash(TrashedPath path) {
    return path.phase() == TrashedPath.Phase.MOVED
        || (path.phase() == TrashedPath.Phase.MOVING
            && Files.exists(path.held(), LinkOption.NOFOLLOW_LINKS));
  }

  /** Writes down how far cleanups came that were killed while they moved paths. */
  private void settleMoves() {
    journals().states().forEach(state -> state.paths().forEach(trash(state)::settleMove));
  }

  /** Returns the candidates of the first plan that the second plan also removes. */
  private static List<Candidate> inBoth(
      CleanupPlan first, CleanupPlan second, List<KeptPath> failed) {
    Map<Path, Candidate> again = new HashMap<>();
    second.candidates().forEach(one -> again.put(one.full(), one));
    Map<Path, String> kept = new HashMap<>();
    second.kept().forEach(one -> kept.put(one.path(), one.reason()));
    List<Candidate> both = new ArrayList<>();
    for (Candidate candidate : first.candidates()) {
      Candidate same = again.get(candidate.full());
      if (same != null && same.identity().equals(candidate.identity())) {
        both.add(same);
        continue;
      }
      Optional<String> reason = Optional.empty();
      for (Path path = candidate.full(); path != null; path = path.getParent()) {
        reason = reason.isPresent() ? reason : Optional.ofNullable(kept.get(path));
      }
      failed.add(new KeptPath(candidate.full(), reason.orElse("it changed while the cleanup ran")));
    }
    return both;
  }

  private void move(
      Trash trash,
      List<Candidate> candidates,
      Planned planned,
      FileLock lock,
      List<KeptPath> failed,
      Running moving) {
    EndedRuns runs = new EndedRuns(workspace, schedulers, planned.now(), planned.settings().age());
    Set<Path> tiers = new LinkedHashSet<>();
    int number = 0;
    Optional<String> end = Optional.empty();
    for (Candidate candidate : candidates) {
      number++;
      tiers.add(candidate.root().path());
      if (end.isEmpty() && !lock.holds()) {
        end = Optional.of("another cleanup took over the lock");
      }
      Optional<String> why = end;
      try {
        why = end.isPresent() ? end : move(trash, number, candidate, runs);
      } catch (UncheckedIOException | SchedulerUnavailable stopped) {
        // Such as a full disk under the journal. Paths that were moved so far can be brought back.
        why = Optional.of(String.valueOf(stopped.getMessage()));
        end = Optional.of("the cleanup ended before it: " + stopped.getMessage());
      }
      why.ifPresent(reason -> failed.add(new KeptPath(candidate.full(), reason)));
      moving.done(1, 0);
    }
    tiers.forEach(trash::removeEmpty);
  }

  private Optional<String> move(Trash trash, int number, Candidate candidate, EndedRuns runs) {
    if (candidate.run().isEmpty()) {
      return trash.move(number, candidate);
    }
    RunFolder run = workspace.run(candidate.run().get());
    Optional<FileLock> lock = run.lock(Duration.ZERO);
    if (lock.isEmpty()) {
      return Optional.of("another command works on its run");
    }
    try (FileLock held = lock.get()) {
      Optional<String> kept = runs.reasonToKeep(run.id());
      if (run.isOpen() || !held.holds()) {
        kept = Optional.of("its run was started again");
      }
      return kept.isPresent() ? kept : trash.move(number, candidate);
    }
  }

  private void delete(State state, List<TrashedPath> deleted, List<KeptPath> failed) {
    Trash trash = trash(state);
    List<TrashedPath> inTrash = state.inTrash();
    // Read right before the deletion: a bundle that vanishes meanwhile would be lost with it.
    Map<TrashedPath, String> last = lastCopies.reasonsToKeep(inTrash, true);
    // If a killed process began to delete, the paths were due then.
    boolean begun =
        state.count(TrashedPath.Phase.DELETING) + state.count(TrashedPath.Phase.DELETED) > 0;
    Duration grace = begun ? Duration.ZERO : Duration.between(state.at(), state.deleteAfter());
    long files = inTrash.stream().mapToLong(TrashedPath::files).sum();
    try (Running deleting = progress.begin(Phase.of("deleting", "files", files))) {
      for (TrashedPath path : inTrash) {
        String why = last.get(path);
        if (why != null) {
          failed.add(stays(state, path, why));
          continue;
        }
        Trash.Deletion deletion = trash.delete(path, grace, deleting);
        deletion.failed().ifPresent(reason -> failed.add(new KeptPath(path.held(), reason)));
        if (deletion.deleted()) {
          deleted.add(path);
        }
      }
    }
    removeEmpty(trash, state);
  }

  /**
   * Brings back what a cleanup moved.
   *
   * @throws NexaException if there is no such cleanup, or it is another user's
   */
  public Done undo(String id) {
    CleanupJournal journal = CleanupJournal.existing(workspace, id);
    if (journal.isOfAnotherUser()) {
      throw ErrorCode.RUN_OF_ANOTHER_USER.error(
          id + " belongs to " + Workspace.ownerOf(journal.file()) + ": only that user can undo it");
    }
    try (FileLock lock = lock()) {
      Optional<State> state = journal.read();
      List<TrashedPath> back = new ArrayList<>();
      List<KeptPath> failed = new ArrayList<>();
      if (state.isPresent()) {
        Trash trash = trash(state.get());
        List<TrashedPath> gone = new ArrayList<>(state.get().paths());
        gone.removeIf(CleanTiers::isInPlace);
        try (Running returning = progress.begin(Phase.of("bringing back", "paths", gone.size()))) {
          for (TrashedPath path : gone) {
            Optional<String> why =
                lock.holds()
                    ? trash.restore(path)
                    : Optional.of("another cleanup took over the lock");
            why.ifPresentOrElse(
                reason -> failed.add(new KeptPath(path.full(), reason)), () -> back.add(path));
            returning.done(1, 0);
          }
        }
        removeEmpty(trash, state.get());
      }
      return new Done(Optional.of(journal.id()), back, List.of(), failed);
    }
  }

  private static boolean isInPlace(TrashedPath path) {
    return path.phase() == TrashedPath.Phase.KEPT || path.phase() == TrashedPath.Phase.RESTORED;
  }

  private static void removeEmpty(Trash trash, State state) {
    state.paths().stream().map(TrashedPath::tier).distinct().forEach(trash::removeEmpty);
  }

  /** Returns the trash of a cleanup, which knows if another host has filled it. */
  private Trash trash(State state) {
    Optional<String> elsewhere =
        Optional.of(state.host()).filter(host -> !host.equals(ProcessIdentity.localHost()));
    return new Trash(new CleanupJournal(workspace, state.id()), workspace.files(), elsewhere);
  }

  private FileLock lock() {
    return workspace
        .lockCleanup(PATIENCE)
        .orElseThrow(() -> busy("another cleanup works", workspace));
  }

  /** Returns the error of a lock of the workspace that another command holds. */
  public static NexaException busy(String what, Workspace workspace) {
    return ErrorCode.WORKSPACE_BUSY.error(
        what + " in " + workspace.root(), "wait until it has ended, then type the command again");
  }
}
