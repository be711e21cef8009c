package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.ChangedFileException;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunsByScheduler;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
import java.util.TreeSet;
import java.util.function.Supplier;

/** Implements {@code reconcile}: one pass over unfinished runs. */
public record ReconcileRuns(Context context, Progress progress) {
  public ReconcileRuns(Context context) {
    this(context, Progress.NONE);
  }

  /**
   * The result of a pass.
   *
   * @param problems lines that somebody should look at
   * @param stuck runs without a pipeline that had a task which can never start
   * @param broken runs that could not be processed; the next pass will fail on them too
   * @param outage a scheduler that could not be asked; its runs are unchanged
   * @param behindSince since when an outage hides the state of the runs
   * @param left how many unfinished runs of other users were left to them
   * @param leftTo the login names of these users
   */
  public record Pass(
      int runsRead,
      int runsChanged,
      int rowsRead,
      List<String> problems,
      Set<RunId> stuck,
      Set<RunId> broken,
      Optional<SchedulerUnavailable> outage,
      Optional<Instant> behindSince,
      int left,
      Set<String> leftTo) {
    /** Returns a copy with these problems. */
    public Pass with(List<String> all) {
      return new Pass(
          runsRead, runsChanged, rowsRead, all, stuck, broken, outage, behindSince, left, leftTo);
    }

    /** Returns a sentence about the runs of other users; empty if there are none. */
    public Optional<String> leftToOthers() {
      return left == 0
          ? Optional.empty()
          : Optional.of(
              Plural.of(left, "unfinished run")
                  + (left == 1 ? " was left to " : " were left to ")
                  + String.join(", ", leftTo));
    }

    /** Returns the document that {@code --json} prints. */
    public JsonObject toJson() {
      List<String> all = new ArrayList<>(problems);
      outage.ifPresent(failed -> all.add(String.valueOf(failed.getMessage())));
      return JsonObject.ofVersion(1)
          .with("runs_read", runsRead)
          .with("runs_changed", runsChanged)
          .with("rows_read", rowsRead)
          .with("behind_since", behindSince.orElse(null))
          .with("left_to_others", left)
          .with("problems", all);
    }
  }

  /**
   * Makes a pass over all unfinished runs of this user and writes the heartbeat. An outage is part
   * of the result.
   */
  public Pass reconcile() {
    Instant begun = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    long nanos = System.nanoTime();
    Workspace workspace = context.workspace();
    Optional<Instant> lastSuccess = Heartbeat.read(workspace).flatMap(Heartbeat::lastSuccess);
    Set<String> leftTo = new TreeSet<>();
    List<RunId> open = workspace.openRuns();
    List<RunId> own = own(open, leftTo);
    Pass pass = pass(own, open.size() - own.size(), leftTo, () -> lastSuccess.orElse(begun));
    Heartbeat heartbeat =
        new Heartbeat(
            begun,
            pass.outage().isPresent() ? lastSuccess : Optional.of(begun),
            pass.behindSince(),
            pass.outage().map(failed -> String.valueOf(failed.getMessage())),
            pass.runsRead(),
            pass.runsChanged(),
            pass.rowsRead(),
            Duration.ofNanos(System.nanoTime() - nanos));
    // A pass of root settles no run of the user's, and must not look like a pass of the user's.
    if (!UnixUser.me().user().equals("root") || !workspace.isAnothers()) {
      heartbeat.write(workspace);
    }
    if (pass.outage().isEmpty()) {
      sweep(workspace);
    }
    return pass;
  }

  /** Returns the runs that this user can reconcile, and adds the owners of the others. */
  private List<RunId> own(List<RunId> ids, Set<String> owners) {
    List<RunId> own = new ArrayList<>();
    for (RunId id : ids) {
      RunFolder run = context.workspace().run(id);
      if (run.isOfAnotherUser()) {
        owners.add(run.owner());
      } else {
        own.add(id);
      }
    }
    return own;
  }

  /**
   * Removes leftovers of dead processes. A failure is ignored, because the next pass tries again.
   */
  private static void sweep(Workspace workspace) {
    try {
      workspace.sweep(Instant.now());
    } catch (UncheckedIOException unwritable) {
      return;
    }
  }

  /**
   * Makes a pass for cron. During an outage, passes become less frequent.
   *
   * @return empty if it is too early to ask again
   */
  public Optional<Pass> reconcilePatiently() {
    Optional<Instant> later =
        Heartbeat.read(context.workspace()).flatMap(beat -> beat.askAgain(Instant.now()));
    return later.isPresent() ? Optional.empty() : Optional.of(reconcile());
  }

  /**
   * Makes a pass over these runs. Writes no heartbeat.
   *
   * @throws SchedulerUnavailable if a scheduler cannot be asked; its runs are unchanged
   */
  public Pass reconcile(List<RunId> ids) {
    Pass pass = pass(ids, 0, Set.of(), Instant::now);
    if (pass.outage().isPresent()) {
      throw pass.outage().get();
    }
    return pass;
  }

  private Pass pass(List<RunId> ids, int left, Set<String> leftTo, Supplier<Instant> behindSince) {
    RunsByScheduler runs = RunsByScheduler.of(context.workspace(), ids, progress);
    Found found = new Found();
    found.problems.addAll(runs.problems().values());
    found.broken.addAll(runs.problems().keySet());
    Optional<SchedulerUnavailable> outage = Optional.empty();
    for (Map.Entry<String, Map<RunId, RunState>> group : runs.groups().entrySet()) {
      try {
        reconcile(group.getKey(), group.getValue(), found);
      } catch (SchedulerUnavailable failed) {
        outage = Optional.of(failed);
      }
    }
    return new Pass(
        ids.size(),
        found.changed,
        found.rows,
        found.problems,
        found.stuck,
        found.broken,
        outage,
        outage.map(failed -> behindSince.get()),
        left,
        leftTo);
  }

  private void reconcile(String name, Map<RunId, RunState> runs, Found found) {
    Scheduler scheduler =
        context.scheduler(
            name, "nothing is lost: the jobs go on, and the next pass there settles them");
    askFor(context, scheduler, runs.keySet());
    Policy policy = context.configs().policy();
    Map<String, Map<String, BillingWeights>> weights = new HashMap<>();
    RunPass pass =
        new RunPass(
            context.workspace(),
            scheduler,
            policy,
            cluster -> weights.computeIfAbsent(cluster, this::weights),
            context.passing());
    try (Running reconciling = progress.begin(Phase.of("reconciling", "runs", runs.size()))) {
      SchedulerPoll.forEachPart(
          scheduler,
          runs,
          (evidence, part) -> {
            found.rows += evidence.rowsRead();
            for (Map.Entry<RunId, RunState> run : part.entrySet()) {
              found.changed += reconcile(pass, run, evidence, found) ? 1 : 0;
              reconciling.done(1, 0);
            }
          });
    } finally {
      found.stuck.addAll(pass.stuck());
    }
    tellRefusal(scheduler, found.problems);
  }

  /**
   * Returns the billing weights of the profile's partitions; empty if the profile is missing or
   * broken.
   */
  private Map<String, BillingWeights> weights(String cluster) {
    Map<String, BillingWeights> weights = new HashMap<>();
    try {
      context
          .configs()
          .cluster(cluster)
          .partitions()
          .forEach(
              (name, partition) ->
                  partition
                      .billingWeights()
                      .ifPresent(text -> weights.put(name, BillingWeights.parse(text))));
    } catch (NexaException | UncheckedIOException unreadable) {
      return Map.of();
    }
    return weights;
  }

  /** The results of all parts of a pass, added up. */
  private static final class Found {
    private int changed;
    private int rows;
    private final List<String> problems = new ArrayList<>();
    private final Set<RunId> stuck = new HashSet<>();
    private final Set<RunId> broken = new HashSet<>();
  }

  /** Reconciles one run. A failure is a problem of this run only. */
  private boolean reconcile(
      RunPass pass, Map.Entry<RunId, RunState> run, TaskEvidence evidence, Found found) {
    String why;
    try {
      RunFolder folder = context.workspace().run(run.getKey());
      return pass.reconcile(folder, run.getValue(), evidence, found.problems);
    } catch (OutOfMemoryError tooLarge) {
      why = "it has too many attempts for this heap; NEXA_JAVA_OPTS=-Xmx2g gives more";
    } catch (SchedulerUnavailable outage) {
      throw outage;
    } catch (ChangedFileException changed) {
      why =
          ("%s; the run waits: put the file back as it was, from a backup, then type"
                  + " `nexa-slurm reconcile`; `nexa-slurm audit %s` lists what differs")
              .formatted(changed.getMessage(), run.getKey());
    } catch (RuntimeException failed) {
      why = failed.getMessage() == null ? failed.toString() : failed.getMessage();
    }
    found.problems.add(run.getKey() + ": " + why);
    found.broken.add(run.getKey());
    return false;
  }

  /**
   * Adds the profile's {@code slurm.sacct_fields} to queries: the profile of the first of these
   * runs that has a plan.
   */
  public static void askFor(Context context, Scheduler scheduler, Set<RunId> runs) {
    for (RunId id : runs) {
      RunFolder run = context.workspace().run(id);
      if (Files.exists(run.plan())) {
        try {
          scheduler.askFor(
              context.configs().cluster(run.shownPlan().cluster()).slurm().sacctFields());
        } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
          scheduler.askFor(List.of());
        }
        return;
      }
    }
  }

  /** Reports that sacct rejected a field of the profile. */
  public static void tellRefusal(Scheduler scheduler, List<String> problems) {
    if (scheduler.refusal().isPresent()) {
      problems.add(
          scheduler.refusal().get()
              + "; asked without the profile's slurm.sacct_fields: Slurm is of another version than"
              + " the profile. `nexa-slurm init` tells what they are now");
    }
  }
}
