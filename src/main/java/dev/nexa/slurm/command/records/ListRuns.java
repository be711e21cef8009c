package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.summary.NoMatch;
import dev.nexa.slurm.money.summary.RunFilter;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.OtherRuns;
import dev.nexa.slurm.run.status.RunRow;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Implements {@code runs list}: the runs of the workspace, from their manifests. Asks a scheduler
 * only for {@link #now}.
 */
public record ListRuns(Context context) {
  private static final Set<String> WAITING = Set.of("queued", "pending", "unconfirmed");

  /**
   * Returns the newest runs' manifests, newest first.
   *
   * @param problems receives a line for each manifest that cannot be read
   */
  public List<ManifestFile> newest(int limit, List<String> problems) {
    Workspace workspace = context.workspace();
    List<ManifestFile> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (manifests.size() < limit && Files.exists(run.manifest())) {
        add(manifests, run, problems);
      }
    }
    return manifests;
  }

  /**
   * Returns the manifests of the newest runs that match a filter, newest first. Reads more than the
   * manifest only for runs that the ledger does not hold.
   *
   * @param problems receives a line for each file that cannot be read
   */
  public List<ManifestFile> newest(int limit, RunFilter where, List<String> problems) {
    Workspace workspace = context.workspace();
    Set<String> open = workspace.openRuns().stream().map(RunId::value).collect(Collectors.toSet());
    Map<String, Boolean> meant = new HashMap<>();
    FinishedRuns runs = new FinishedRuns(workspace);
    runs.forEach(
        run -> {
          if (!open.contains(run.runId())) {
            meant.put(run.runId(), where.accepts(run));
          }
        });
    problems.addAll(runs.problems());
    OtherRuns others = new OtherRuns(workspace);
    List<ManifestFile> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (manifests.size() < limit
          && meant.getOrDefault(id.value(), true)
          && Files.exists(run.manifest())
          && (meant.containsKey(id.value()) || accepts(where, others, run, problems))) {
        add(manifests, run, problems);
      }
    }
    return manifests;
  }

  /**
   * Returns the newest runs that match a filter and are in one of these states now, newest first.
   *
   * @param states the words of {@code --state}
   * @param problems receives a line for each file that cannot be read
   * @param notes receives a line if the scheduler did not answer
   */
  public List<ManifestFile> inStates(
      int limit, RunFilter where, Set<String> states, List<String> problems, List<String> notes) {
    Workspace workspace = context.workspace();
    Set<RunId> open = new HashSet<>(workspace.openRuns());
    OtherRuns others = new OtherRuns(workspace);
    List<ManifestFile> unfinished = new ArrayList<>();
    for (RunId id : open) {
      RunFolder run = workspace.run(id);
      if (Files.exists(run.manifest()) && accepts(where, others, run, problems)) {
        add(unfinished, run, problems);
      }
    }
    now(unfinished, notes);
    Map<String, ManifestFile> chosen = new HashMap<>();
    unfinished.removeIf(run -> !isIn(states, run.status().text(), run.state()));
    unfinished.forEach(run -> chosen.put(run.runId(), run));
    Set<String> ended = new HashSet<>();
    FinishedRuns runs = new FinishedRuns(workspace);
    runs.forEach(
        run -> {
          if (isIn(states, "" + run.status(), "" + run.state()) && where.accepts(run)) {
            ended.add(run.runId());
          }
        });
    problems.addAll(runs.problems());
    List<ManifestFile> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      boolean known = chosen.containsKey(id.value());
      if (manifests.size() < limit && known) {
        manifests.add(chosen.get(id.value()));
      } else if (manifests.size() < limit && !open.contains(id) && ended.contains(id.value())) {
        add(manifests, workspace.run(id), problems);
      }
    }
    return manifests;
  }

  /** Returns whether a run is in one of the states; a run that waits has several words for it. */
  private static boolean isIn(Set<String> states, String status, String state) {
    String first = state.split(" ", 2)[0];
    if (WAITING.contains(first)) {
      return WAITING.stream().anyMatch(states::contains);
    }
    return states.contains(first)
        || (states.contains(status) && !status.equals(RunStatus.RUNNING.text()));
  }

  /**
   * Adds to the manifests of unfinished runs what {@code status} shows of them now: a manifest is
   * as old as the last pass.
   *
   * @param notes receives a line if the scheduler did not answer
   */
  public void now(List<ManifestFile> manifests, List<String> notes) {
    Workspace workspace = context.workspace();
    Set<RunId> open = new HashSet<>(workspace.openRuns());
    open.removeIf(id -> workspace.run(id).isOfAnotherUser());
    Map<String, ManifestFile> unfinished = new LinkedHashMap<>();
    manifests.stream()
        .filter(one -> open.contains(new RunId(one.runId())))
        .forEach(one -> unfinished.put(one.runId(), one));
    if (unfinished.isEmpty()) {
      return;
    }
    Optional<List<RunRow>> rows =
        RunNow.rows(context, unfinished.keySet().stream().map(RunId::new).toList());
    if (rows.isEmpty()) {
      notes.add(
          "the scheduler did not answer: the state of "
              + Plural.of(unfinished.size(), "run")
              + " is that of the last pass; `nexa-slurm reconcile` brings it up to date");
    }
    for (RunRow row : rows.orElse(List.of())) {
      ManifestFile manifest = unfinished.get(row.runId());
      if (manifest != null) {
        RunRow words = row.forPeople();
        manifest.now(words.status(), words.state(), row.spent().now());
      }
    }
  }

  /** Counts all runs, to explain a filter that no run matches. */
  public NoMatch unmatched(RunFilter where) {
    Workspace workspace = context.workspace();
    OtherRuns others = new OtherRuns(workspace);
    Set<String> finished = new HashSet<>();
    NoMatch none = new NoMatch(where);
    new FinishedRuns(workspace)
        .forEach(
            run -> {
              finished.add(run.runId());
              none.add(run);
            });
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (!finished.contains(id.value()) && Files.exists(run.manifest())) {
        line(others, run, new ArrayList<>()).ifPresent(none::add);
      }
    }
    return none;
  }

  /** Adds a run's manifest. A broken one is a problem and does not hide the others. */
  private void add(List<ManifestFile> manifests, RunFolder run, List<String> problems) {
    try {
      ManifestFile manifest = RunRecordFile.manifest(run, ManifestFile::requireWhole);
      manifests.add(
          context.workspace().isShared()
              ? manifest.listedFor(Workspace.ownerOf(run.manifest()))
              : manifest);
    } catch (NexaException broken) {
      problems.add(words(broken));
    } catch (RuntimeException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage());
    }
  }

  /** Returns the message with its advice on one line. */
  static String words(NexaException failed) {
    return failed.getMessage()
        + "; "
        + failed.advice().stream().map(Advice::toString).collect(Collectors.joining("; "));
  }

  private static boolean accepts(
      RunFilter where, OtherRuns others, RunFolder run, List<String> problems) {
    return line(others, run, problems).map(where::accepts).orElse(false);
  }

  private static Optional<LedgerLine> line(OtherRuns others, RunFolder run, List<String> problems) {
    try {
      return Optional.of(others.line(run));
    } catch (RuntimeException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage());
      return Optional.empty();
    }
  }
}
