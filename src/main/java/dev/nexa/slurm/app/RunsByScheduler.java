package dev.nexa.slurm.app;

import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs by the scheduler that has their jobs, each with its state: a scheduler is asked once for
 * all.
 *
 * @param groups the runs that can be read
 * @param problems those that can't, and why: one of them is no reason to leave the others
 */
record RunsByScheduler(Map<String, Map<RunId, RunState>> groups, Map<RunId, String> problems) {

  static RunsByScheduler of(Workspace workspace, List<RunId> ids) {
    Map<String, Map<RunId, RunState>> groups = new TreeMap<>();
    Map<RunId, String> problems = new LinkedHashMap<>();
    for (RunId id : ids) {
      RunFolder run = workspace.run(id);
      try {
        RunState state = RunState.of(run.journal().read());
        groups
            .computeIfAbsent(RunLookup.scheduler(run), name -> new LinkedHashMap<>())
            .put(id, state);
      } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
        problems.put(id, id + ": " + unreadable.getMessage());
      }
    }
    return new RunsByScheduler(groups, problems);
  }
}
