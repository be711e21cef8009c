package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Runs and their states, grouped by scheduler, so that each scheduler is asked once for all its
 * runs.
 *
 * @param groups the readable runs, by scheduler name
 * @param problems an error for each run that cannot be read; the other runs are still processed
 */
public record RunsByScheduler(
    Map<String, Map<RunId, RunState>> groups, Map<RunId, String> problems) {

  /** Reads the journals of these runs. */
  public static RunsByScheduler of(Workspace workspace, List<RunId> ids, Progress progress) {
    try (Running reading = progress.begin(Phase.of("reading journals", "runs", ids.size()))) {
      return grouped(
          workspace,
          ids,
          run -> {
            reading.done(1, 0);
            return run.journal().read();
          });
    }
  }

  /**
   * Groups these runs.
   *
   * @param journals reads a run's journal
   */
  public static RunsByScheduler grouped(
      Workspace workspace, List<RunId> ids, Function<RunFolder, List<Event>> journals) {
    Map<String, Map<RunId, RunState>> groups = new TreeMap<>();
    Map<RunId, String> problems = new LinkedHashMap<>();
    for (RunId id : ids) {
      RunFolder run = workspace.run(id);
      try {
        List<Event> events = journals.apply(run);
        RunState state = RunState.of(events);
        groups
            .computeIfAbsent(RunLookup.scheduler(run, events), name -> new LinkedHashMap<>())
            .put(id, state);
      } catch (RuntimeException unreadable) {
        problems.put(id, id + ": " + unreadable.getMessage());
      }
    }
    return new RunsByScheduler(groups, problems);
  }
}
