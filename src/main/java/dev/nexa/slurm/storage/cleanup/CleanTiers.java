package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.State;
import dev.nexa.slurm.storage.cleanup.TrashedPath.Phase;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Implements {@code cleanup}: plans what may go, moves it into the trash, deletes old trash, and
 * brings trash back. One process at a time works in a workspace.
 */
public final class CleanTiers {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Workspace workspace;
  private final ConfigReader configs;
  private final Function<String, Scheduler> schedulers;
  private final Consumer<CleanupStep> passing;

  public CleanTiers(
      Workspace workspace, ConfigReader configs, Function<String, Scheduler> schedulers) {
    this(workspace, configs, schedulers, step -> {});
  }

  /**
   * Creates the use case.
   *
   * @param schedulers returns the scheduler with a name, to read its queue
   * @param passing receives each step; does nothing outside the tests that kill the process
   */
  public CleanTiers(
      Workspace workspace,
      ConfigReader configs,
      Function<String, Scheduler> schedulers,
      Consumer<CleanupStep> passing) {
    this.workspace = workspace;
    this.configs = configs;
    this.schedulers = schedulers;
    this.passing = passing;
  }

  /**
   * A cleanup that was planned.
   *
   * @param due cleanups whose trash is deleted now
   */
  public record Planned(
      CleanupPlan plan, List<State> due, Settings settings, List<TierRoot> roots, Instant now) {
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
   * What came of a cleanup or of an undo.
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
   * Plans a cleanup. Changes nothing.
   *
   * @throws NexaException if a tier or a document cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  public Planned plan(Settings settings, List<TierRoot> roots, Instant now) {
    return plan(settings, roots, now, journals());
  }

  private Planned plan(Settings settings, List<TierRoot> roots, Instant now, List<State> journals) {
    Set<Path> inTrash = new HashSet<>();
    List<State> due = new ArrayList<>();
    for (State state : journals) {
      state.paths().stream()
          .filter(CleanupJournal::mayBeInTrash)
          .forEach(path -> inTrash.add(path.full()));
      boolean inUse = state.paths().stream().anyMatch(CleanupJournal::mayBeInTrash);
      if (inUse ? state.left(now).isZero() : leftEmpty(state)) {
        due.add(state);
      }
    }
    EndedRuns runs = new EndedRuns(workspace, schedulers, now, settings.age());
    CleanupPlan plan =
        new FindCandidates(workspace, runs, settings, now, inTrash).find(configs, roots);
    return new Planned(plan, due, settings, roots, now);
  }

  /** Returns whether a killed process left the empty trash of a cleanup. */
  private static boolean leftEmpty(State state) {
    for (TrashedPath path : state.paths()) {
      Path trash = path.tier().resolve(path.trash()).getParent();
      if (trash != null && Files.isDirectory(trash, LinkOption.NOFOLLOW_LINKS)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Finds all durable folders of runs, whatever their age. Changes nothing.
   *
   * @param why the words of the cleanup's journal
   * @throws NexaException if a document that may refer to the runs cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  public List<WholeRun> whole(List<RunId> runs, List<TierRoot> roots, String why, Instant now) {
    EndedRuns ended = new EndedRuns(workspace, schedulers, now, Duration.ZERO);
    return new FindWholeRuns(workspace, ended).find(runs, configs, roots, why);
  }

  /**
   * Moves the durable folders of a run into the trash, as {@link #run} does.
   *
   * @param grace how long they stay there
   */
  public Done move(WholeRun run, Duration grace, List<TierRoot> roots, Instant now) {
    CleanupPlan plan = new CleanupPlan();
    run.folders().forEach(plan::remove);
    Settings settings = new Settings(Duration.ZERO, 0, grace, Optional.of(Tier.DURABLE));
    return run(new Planned(plan, List.of(), settings, roots, now));
  }

  /** Returns the state of each of the user's cleanups, oldest first. */
  public List<State> journals() {
    List<State> states = new ArrayList<>();
    for (CleanupJournal journal : CleanupJournal.all(workspace)) {
      if (!journal.isOfAnotherUser()) {
        journal.read().ifPresent(states::add);
      }
    }
    return states;
  }

  /**
   * Does what was planned: first deletes old trash, then moves the candidates.
   *
   * <p>It asks the queue again, and locks each run while its files are moved: a run that was
   * started again since the plan keeps them.
   */
  public Done run(Planned planned) {
    try (FileLock lock = lock()) {
      List<KeptPath> failed = new ArrayList<>();
      List<TrashedPath> deleted = new ArrayList<>();
      for (State state : planned.due()) {
        delete(state, deleted, failed);
      }
      if (planned.plan().candidates().isEmpty()) {
        return new Done(Optional.empty(), List.of(), deleted, failed);
      }
      EndedRuns runs =
          new EndedRuns(workspace, schedulers, planned.now(), planned.settings().age());
      // Asked before the first move, so that an outage leaves everything in place.
      planned.plan().runs().forEach(runs::keeps);
      CleanupId id = CleanupId.of(planned.now());
      CleanupJournal journal = new CleanupJournal(workspace, id);
      journal.begin(workspace, planned.now(), planned.settings(), host());
      passing.accept(CleanupStep.BEGUN);
      Trash trash = new Trash(journal, workspace.files(), Optional.empty(), passing);
      Set<Path> tiers = new LinkedHashSet<>();
      int number = 0;
      for (Candidate candidate : planned.plan().candidates()) {
        number++;
        if (!lock.holds()) {
          failed.add(new KeptPath(candidate.full(), "another cleanup took over the lock"));
          continue;
        }
        move(trash, number, candidate, runs)
            .ifPresent(why -> failed.add(new KeptPath(candidate.full(), why)));
      }
      planned.plan().candidates().forEach(one -> tiers.add(one.root().path()));
      tiers.forEach(trash::removeEmpty);
      List<TrashedPath> moved =
          journal.read().map(State::paths).orElse(List.of()).stream()
              .filter(path -> path.phase() == Phase.MOVED)
              .toList();
      return new Done(Optional.of(id), moved, deleted, failed);
    }
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
      Optional<String> kept = runs.keeps(run.id());
      if (run.isOpen() || !held.holds()) {
        kept = Optional.of("its run was started again");
      }
      return kept.isPresent() ? kept : trash.move(number, candidate);
    }
  }

  private void delete(State state, List<TrashedPath> deleted, List<KeptPath> failed) {
    CleanupJournal journal = new CleanupJournal(workspace, state.id());
    Trash trash = new Trash(journal, workspace.files(), elsewhere(state), passing);
    Set<Path> tiers = new LinkedHashSet<>();
    for (TrashedPath path : state.paths()) {
      tiers.add(path.tier());
      if (!CleanupJournal.mayBeInTrash(path)) {
        continue;
      }
      Optional<String> why = trash.delete(path);
      if (why.isPresent()) {
        failed.add(new KeptPath(path.tier().resolve(path.trash()), why.get()));
      } else {
        deleted.add(path);
      }
    }
    tiers.forEach(trash::removeEmpty);
  }

  /**
   * Brings back what a cleanup moved.
   *
   * @throws NexaException if there is no such cleanup, or it is another user's
   */
  public Done undo(String id) {
    CleanupJournal journal = CleanupJournal.existing(workspace, id);
    if (journal.isOfAnotherUser()) {
      throw new NexaException(
          ErrorCode.RUN_OF_ANOTHER_USER,
          id + " belongs to " + Workspace.ownerOf(journal.file()) + ": only that user can undo it");
    }
    try (FileLock lock = lock()) {
      Optional<State> state = journal.read();
      List<TrashedPath> back = new ArrayList<>();
      List<KeptPath> failed = new ArrayList<>();
      if (state.isPresent()) {
        Trash trash = new Trash(journal, workspace.files(), elsewhere(state.get()), passing);
        Set<Path> tiers = new LinkedHashSet<>();
        for (TrashedPath path : state.get().paths()) {
          tiers.add(path.tier());
          if (path.phase() == Phase.KEPT || path.phase() == Phase.RESTORED) {
            continue;
          }
          Optional<String> why =
              lock.holds()
                  ? trash.restore(path)
                  : Optional.of("another cleanup took over the lock");
          if (why.isPresent()) {
            failed.add(new KeptPath(path.full(), why.get()));
          } else {
            back.add(path);
          }
        }
        tiers.forEach(trash::removeEmpty);
      }
      return new Done(Optional.of(journal.id()), back, List.of(), failed);
    }
  }

  private static Optional<String> elsewhere(State state) {
    return state.host().equals(host()) ? Optional.empty() : Optional.of(state.host());
  }

  private static String host() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of("/proc/sys/kernel/hostname"), failed);
    }
  }

  private FileLock lock() {
    return workspace
        .lockCleanup(PATIENCE)
        .orElseThrow(
            () ->
                new NexaException(
                    ErrorCode.WORKSPACE_BUSY,
                    "another cleanup works in " + workspace.root(),
                    Advice.step("wait until it has ended, then type the command again")));
  }
}
