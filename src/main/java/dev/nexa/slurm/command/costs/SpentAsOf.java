package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How current the spent amounts are. {@code reconcile} writes costs; nothing else does.
 *
 * @param pass up to when the newest pass of {@code reconcile} knows all jobs; empty without a pass
 * @param unsettled how many runs are not settled
 */
record SpentAsOf(Optional<Instant> pass, int unsettled) {
  static SpentAsOf of(Workspace workspace) {
    Optional<Heartbeat> newest = Heartbeat.read(workspace);
    Optional<Instant> pass =
        newest.isEmpty()
            ? Optional.empty()
            : newest.get().behindSince().or(() -> Optional.of(newest.get().lastPass()));
    return new SpentAsOf(pass, workspace.openRuns().size());
  }

  /** Returns a line for people. */
  String sentence(Instant now) {
    String runs = unsettled + (unsettled == 1 ? " run is" : " runs are") + " not settled";
    if (unsettled == 0) {
      return "SPENT is up to date: all runs of this workspace are settled.\n";
    }
    if (pass.isEmpty()) {
      return "SPENT may be too low: " + runs + ". `nexa-slurm reconcile` brings it up to date.\n";
    }
    Duration age = Duration.between(pass.get(), now);
    String ago =
        age.toSeconds() < 1
            ? "just now"
            : TimeLimit.words(Duration.ofSeconds(age.toSeconds())) + " ago";
    return "SPENT is as of %s (%s): %s. `nexa-slurm reconcile` brings it up to date.\n"
        .formatted(pass.get(), ago, runs);
  }
}
