package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.Snapshot;
import dev.nexa.slurm.records.documents.SnapshotChange;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The changes since the last run of the same config that went well, from their snapshots. */
record SinceLastGood(Workspace workspace) {
  private static final int MOST_READ = 500;
  private static final int MOST_NAMED = 3;

  /** Returns a sentence; empty if nothing has changed, or if one of the two has no snapshot. */
  Optional<String> of(RunFolder run) {
    try {
      Optional<Snapshot> now = Snapshot.of(run);
      Optional<RunFolder> good = now.isPresent() ? lastGood(run) : Optional.empty();
      Optional<Snapshot> then = good.flatMap(Snapshot::of);
      return then.isEmpty()
          ? Optional.empty()
          : sentence(
              good.get().id(), run.id(), SnapshotChange.between(then.get(), now.orElseThrow()));
    } catch (RuntimeException unreadable) {
      // It only adds to what `why` has found; `summary RUN` names a damaged snapshot.
      return Optional.empty();
    }
  }

  private Optional<RunFolder> lastGood(RunFolder run) {
    List<RunId> all = workspace.allRuns();
    String config = run.shownPlan().config();
    return all.stream()
        .skip(all.indexOf(run.id()) + 1L)
        .limit(MOST_READ)
        .map(workspace::run)
        .filter(other -> wentWell(other, config))
        .findFirst();
  }

  private static boolean wentWell(RunFolder run, String config) {
    try {
      return ManifestFile.read(run).status() == RunStatus.COMPLETED
          && run.shownPlan().config().equals(config);
    } catch (RuntimeException unreadable) {
      return false;
    }
  }

  private static Optional<String> sentence(RunId good, RunId run, List<SnapshotChange> all) {
    List<SnapshotChange> changes = all.stream().filter(SnapshotChange::isCause).toList();
    if (changes.isEmpty()) {
      return Optional.empty();
    }
    int more = changes.size() - MOST_NAMED;
    return Optional.of(
        "since %s, which went well: %s%s; `nexa-slurm summary diff %s %s` shows all"
            .formatted(
                good,
                changes.stream()
                    .limit(MOST_NAMED)
                    .map(SnapshotChange::phrase)
                    .collect(Collectors.joining("; ")),
                more > 0 ? " and " + more + " more" : "",
                good,
                run));
  }
}
