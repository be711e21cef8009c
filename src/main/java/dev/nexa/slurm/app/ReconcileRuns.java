package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Heartbeat;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.Inquiry;
import dev.nexa.slurm.reconcile.RunPass;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.units.BillingWeights;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** {@code reconcile}: one pass over every unfinished run. */
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
   * @param outage of a scheduler that could not be asked: its runs are as they were
   * @param behindSince since when an outage keeps us from knowing
   */
  public record Pass(
      int runsRead,
      int runsChanged,
      int rowsRead,
      List<String> problems,
      Set<RunId> broken,
      Optional<SchedulerUnavailable> outage,
      Optional<Instant> behindSince) {
    public JsonObject toJson() {
      List<String> all = new ArrayList<>(problems);
      outage.ifPresent(failed -> all.add(String.valueOf(failed.getMessage())));
      return new JsonObject()
          .with("schema_version", 1)
          .with("runs_read", runsRead)
          .with("runs_changed", runsChanged)
          .with("rows_read", rowsRead)
          .with("behind_since", behindSince.orElse(null))
          .with("problems", all);
    }
  }

  /** All unfinished runs; an outage is part of what came of it. */
  public Pass reconcile() {
    Instant begun = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    long nanos = System.nanoTime();
    Workspace workspace = nexa.workspace();
    Optional<Heartbeat> before = Heartbeat.read(workspace);
    Optional<Instant> lastSuccess = before.flatMap(Heartbeat::lastSuccess);
    Pass pass = pass(workspace.openRuns(), () -> lastSuccess.orElse(begun));
    new Heartbeat(
            begun,
            pass.outage().isPresent() ? lastSuccess : Optional.of(begun),
            pass.behindSince(),
            pass.outage().map(failed -> String.valueOf(failed.getMessage())),
            pass.runsRead(),
            pass.runsChanged(),
            pass.rowsRead(),
            Duration.ofNanos(System.nanoTime() - nanos))
        .write(workspace);
    return pass;
  }

  /**
   * The same for a pass that nobody waits for: while a service is in trouble it is asked less and
   * less often. Empty if it is not time yet.
   */
  public Optional<Pass> reconcilePatiently() {
    Optional<Heartbeat> before = Heartbeat.read(nexa.workspace());
    Optional<Instant> later = before.flatMap(beat -> beat.askAgain(Instant.now()));
    return later.isPresent() ? Optional.empty() : Optional.of(reconcile());
  }

  /**
   * These runs.
   *
   * @throws SchedulerUnavailable if a scheduler could not be asked: its runs are as they were
   */
  public Pass reconcile(List<RunId> ids) {
    Pass pass = pass(ids, Instant::now);
    if (pass.outage().isPresent()) {
      throw pass.outage().get();
    }
    return pass;
  }

  private Pass pass(List<RunId> ids, Supplier<Instant> behindSince) {
    RunsByScheduler runs = RunsByScheduler.of(nexa.workspace(), ids);
    List<String> problems = new ArrayList<>(runs.problems().values());
    Set<RunId> broken = new HashSet<>(runs.problems().keySet());
    Optional<SchedulerUnavailable> outage = Optional.empty();
    Counts counts = new Counts();
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      try {
        reconcile(group.getKey(), group.getValue(), counts, problems, broken);
      } catch (SchedulerUnavailable failed) {
        outage = Optional.of(failed);
      }
    }
    return new Pass(
        ids.size(),
        counts.changed,
        counts.rows,
        problems,
        broken,
        outage,
        outage.map(failed -> behindSince.get()));
  }

  private void reconcile(
      String name,
      Map<RunId, RunState> runs,
      Counts counts,
      List<String> problems,
      Set<RunId> broken) {
    Scheduler scheduler = nexa.scheduler(name);
    SacctFields.askFor(nexa, scheduler, runs.keySet());
    Policy policy = nexa.configs().policy();
    Map<String, Map<String, BillingWeights>> weights = new HashMap<>();
    RunPass pass =
        new RunPass(
            nexa.workspace(),
            scheduler,
            policy,
            cluster -> weights.computeIfAbsent(cluster, this::weights),
            nexa.passing());
    Inquiry.forEachPart(
        scheduler,
        runs,
        (evidence, part) -> {
          counts.rows += evidence.rowsRead();
          for (Map.Entry<RunId, RunState> run : part.entrySet()) {
            counts.changed += reconcile(pass, run, evidence, problems, broken) ? 1 : 0;
          }
        });
    SacctFields.tellRefusal(scheduler, problems);
  }

  /**
   * What the profile tells of its partitions' weights; one that is gone or broken tells nothing.
   */
  private Map<String, BillingWeights> weights(String cluster) {
    Map<String, BillingWeights> weights = new HashMap<>();
    try {
      for (Map.Entry<String, ClusterProfile.Partition> partition :
          nexa.configs().cluster(cluster).partitions().entrySet()) {
        Optional<String> told = partition.getValue().billingWeights();
        told.ifPresent(text -> weights.put(partition.getKey(), BillingWeights.parse(text)));
      }
    } catch (NexaException | UncheckedIOException unreadable) {
      return Map.of();
    }
    return weights;
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
    } catch (OutOfMemoryError tooLarge) {
      problems.add(
          run.getKey()
              + ": it has too many attempts for this heap; NEXA_JAVA_OPTS=-Xmx2g gives more");
      broken.add(run.getKey());
      return false;
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
