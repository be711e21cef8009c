package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.RunPass;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** {@code reconcile}: one pass over every unfinished run, with one question to each scheduler. */
public final class ReconcileRuns {
  private final Nexa nexa;

  public ReconcileRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What a pass did.
   *
   * @param problems what somebody should look at
   */
  public record Pass(int runsRead, int runsChanged, int rowsRead, List<String> problems) {
    public JsonObject toJson() {
      return new JsonObject()
          .with("schema_version", 1)
          .with("runs_read", runsRead)
          .with("runs_changed", runsChanged)
          .with("rows_read", rowsRead)
          .with("behind_since", null)
          .with("problems", problems);
    }
  }

  /** All unfinished runs. */
  public Pass reconcile() {
    return reconcile(nexa.workspace().openRuns());
  }

  /** These runs; a scheduler that can't be asked ends the pass and changes nothing of its runs. */
  public Pass reconcile(List<RunId> ids) {
    Workspace workspace = nexa.workspace();
    List<String> problems = new ArrayList<>();
    Map<String, Map<RunId, RunState>> byScheduler = new TreeMap<>();
    for (RunId id : ids) {
      read(workspace.run(id), byScheduler, problems);
    }
    if (byScheduler.isEmpty()) {
      return new Pass(ids.size(), 0, 0, problems);
    }
    Policy policy = nexa.configs().policy();
    int changed = 0;
    int rows = 0;
    for (Map.Entry<String, Map<RunId, RunState>> group : byScheduler.entrySet()) {
      Scheduler scheduler = nexa.scheduler(group.getKey());
      Evidence evidence = Evidence.gather(scheduler, group.getValue().values());
      rows += evidence.rowsRead();
      RunPass pass = new RunPass(workspace, scheduler, policy, nexa.passing());
      for (Map.Entry<RunId, RunState> run : group.getValue().entrySet()) {
        try {
          RunFolder folder = workspace.run(run.getKey());
          changed += pass.reconcile(folder, run.getValue(), evidence, problems) ? 1 : 0;
        } catch (SchedulerUnavailable outage) {
          throw outage;
        } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
          // Waiting for this one run must not go on for ever; of many, the others go on.
          if (ids.size() == 1) {
            throw broken;
          }
          problems.add(run.getKey() + ": " + broken.getMessage());
        }
      }
    }
    return new Pass(ids.size(), changed, rows, problems);
  }

  /** One run that can't be read is a problem of its own, and no reason to leave the others. */
  private static void read(
      RunFolder run, Map<String, Map<RunId, RunState>> byScheduler, List<String> problems) {
    try {
      RunState state = RunState.of(run.journal().read());
      String scheduler = RunLookup.scheduler(run);
      byScheduler.computeIfAbsent(scheduler, name -> new LinkedHashMap<>()).put(run.id(), state);
    } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage());
    }
  }
}
