package dev.nexa.slurm.app;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Inquiry;
import dev.nexa.slurm.reconcile.RunPass;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
   * @param broken runs that could not be worked on: the next pass will fare no better
   */
  public record Pass(
      int runsRead, int runsChanged, int rowsRead, List<String> problems, Set<RunId> broken) {
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
    RunsByScheduler runs = RunsByScheduler.of(nexa.workspace(), ids);
    List<String> problems = new ArrayList<>(runs.problems().values());
    Set<RunId> broken = new HashSet<>(runs.problems().keySet());
    if (runs.groups().isEmpty()) {
      return new Pass(ids.size(), 0, 0, problems, broken);
    }
    Policy policy = nexa.configs().policy();
    Counts counts = new Counts();
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      Scheduler scheduler = nexa.scheduler(group.getKey());
      RunPass pass = new RunPass(nexa.workspace(), scheduler, policy, nexa.passing());
      Inquiry.forEachPart(
          scheduler,
          group.getValue(),
          (evidence, part) -> {
            counts.rows += evidence.rowsRead();
            for (Map.Entry<RunId, RunState> run : part.entrySet()) {
              counts.changed += reconcile(pass, run, evidence, problems, broken) ? 1 : 0;
            }
          });
    }
    return new Pass(ids.size(), counts.changed, counts.rows, problems, broken);
  }

  /** Counted over the parts of a pass. */
  private static final class Counts {
    private int changed;
    private int rows;
  }

  /** One run; what is broken about it is a problem, and no reason to leave the others. */
  private boolean reconcile(
      RunPass pass,
      Map.Entry<RunId, RunState> run,
      Evidence evidence,
      List<String> problems,
      Set<RunId> broken) {
    try {
      RunFolder folder = nexa.workspace().run(run.getKey());
      return pass.reconcile(folder, run.getValue(), evidence, problems);
    } catch (SchedulerUnavailable outage) {
      throw outage;
    } catch (NexaException
        | UncheckedIOException
        | IllegalArgumentException
        | FileLock.LockedException failed) {
      problems.add(run.getKey() + ": " + failed.getMessage());
      broken.add(run.getKey());
      return false;
    }
  }
}
