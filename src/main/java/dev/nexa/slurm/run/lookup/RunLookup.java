package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the run that a user names: by run id or its beginning, by the run's name, {@code latest},
 * Slurm job id, or {@code 12345_7}.
 */
public record RunLookup(Workspace workspace) {
  private static final Pattern JOB = Pattern.compile("(\\d{1,18})(?:_(\\d{1,7}))?");

  /** How many runs an ambiguous name lists. */
  private static final int MOST_LISTED = 5;

  /**
   * The run that was named.
   *
   * @param task the task, if the name was a job and array index such as {@code 12345_7}
   */
  public record Found(RunFolder run, OptionalInt task) {
    /**
     * Returns the task that an option names, else the task of the reference; empty if neither does.
     *
     * @throws NexaException with {@link ExitCode#USAGE} if the run has no such task
     */
    public OptionalInt taskOr(@Nullable Integer named) {
      OptionalInt one = named != null ? OptionalInt.of(named) : task;
      one.ifPresent(number -> requireTask(run, number));
      return one;
    }
  }

  /**
   * Returns the run with this name.
   *
   * @param reference a run id, the beginning of one run's id, the name of one run, {@code latest},
   *     a job id, or {@code JOB_INDEX}
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such run or task, or if
   *     several runs fit
   */
  public Found find(String reference) {
    if (reference.equals("latest")) {
      return new Found(withFolder(workspace.run(workspace.latest())), OptionalInt.empty());
    }
    Matcher job = JOB.matcher(reference);
    if (job.matches()) {
      long id = Long.parseLong(job.group(1));
      RunFolder run = byJob(id);
      OptionalInt task =
          job.group(2) == null
              ? OptionalInt.empty()
              : OptionalInt.of(task(run, id, Integer.parseInt(job.group(2))));
      return new Found(run, task);
    }
    Optional<RunId> whole = RunId.parse(reference);
    RunId id =
        whole.isPresent() && isKnown(workspace.run(whole.get()))
            ? whole.get()
            : begunOrNamed(reference, whole.isPresent());
    return new Found(withFolder(workspace.run(id)), OptionalInt.empty());
  }

  private static boolean isKnown(RunFolder run) {
    return run.exists() || LostFolder.is(run);
  }

  private static RunFolder withFolder(RunFolder run) {
    if (LostFolder.is(run)) {
      throw LostFolder.error(run);
    }
    return run;
  }

  /**
   * Returns the run whose id begins so; if no id does, the run with this name. An id of the whole
   * form is never taken for the beginning of another.
   */
  private RunId begunOrNamed(String reference, boolean whole) {
    List<RunId> all = workspace.allRuns();
    boolean searches = !whole && !reference.isEmpty();
    List<RunId> begun =
        all.stream().filter(id -> searches && id.value().startsWith(reference)).toList();
    List<RunId> fitting = begun.isEmpty() && searches ? findByName(reference, all) : begun;
    if (fitting.size() == 1) {
      return fitting.get(0);
    }
    throw fitting.isEmpty()
        ? unknown(reference, all)
        : ambiguous(reference, fitting, !begun.isEmpty());
  }

  /**
   * Returns the runs with this name, in the given order. Manifests have the name as a tag. Only
   * those whose text holds the tag are parsed, because a workspace may have 100,000 runs.
   */
  private List<RunId> findByName(String name, List<RunId> all) {
    List<RunId> named = new ArrayList<>();
    for (RunId id : all) {
      RunFolder run = workspace.run(id);
      try {
        if (Files.exists(run.manifest())) {
          String text = DurableFiles.read(run.manifest());
          boolean held = text.contains("\"" + PlanFile.NAME_TAG + name + "\"");
          if (held
              && ManifestFile.parse(text, run.manifest().toString())
                  .name()
                  .equals(Optional.of(name))) {
            named.add(id);
          }
        }
      } catch (RuntimeException unreadable) {
        // Reconcile and audit report a damaged manifest. It must not hide the other runs.
      }
    }
    return named;
  }

  private NexaException unknown(String reference, List<RunId> all) {
    List<String> names = all.stream().map(RunId::value).toList();
    String where = workspace.root().toAbsolutePath().normalize().toString();
    return ErrorCode.RUN_UNKNOWN.error(
        RunId.parse(reference).isPresent()
            ? "there is no run " + reference + " in " + where + Nearest.hint(reference, names)
            : ("there is no run '%s' in %s: no run has this name, and no run id begins with"
                    + " it%s")
                .formatted(reference, where, Nearest.hint(reference, names)),
        reference.startsWith("pipeline_")
            ? Advice.command(
                "shows the runs of a pipeline", "nexa-slurm", "pipeline", "status", reference)
            : Advice.command(
                "shows them; --workspace names another directory", "nexa-slurm", "runs", "list"));
  }

  private static NexaException ambiguous(String reference, List<RunId> fitting, boolean begun) {
    List<Advice> advice = new ArrayList<>();
    advice.add(Advice.step(begun ? "type more of the id" : "type the run id"));
    for (RunId id : fitting.subList(0, Math.min(MOST_LISTED, fitting.size()))) {
      advice.add(Advice.instead(reference, id.value()));
    }
    int more = fitting.size() - MOST_LISTED;
    if (more > 0) {
      advice.add(Advice.step("or one of " + more + " older: nexa-slurm runs list --limit 100"));
    }
    return ErrorCode.REFERENCE_AMBIGUOUS.error(
        begun
            ? fitting.size() + " run ids begin with '" + reference + "'"
            : fitting.size() + " runs have the name '" + reference + "'",
        advice);
  }

  /** Returns whether a run is known to have one task only, so that the task is the whole run. */
  public static boolean hasOneTask(RunFolder run) {
    return Files.exists(run.plan()) && run.shownPlan().tasks() == 1;
  }

  /**
   * Checks that the run has this task.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if it does not
   */
  public static void requireTask(RunFolder run, int task) {
    long tasks = run.shownPlan().tasks();
    if (task < 0 || task >= tasks) {
      throw ErrorCode.RUN_UNKNOWN.error(
          "there is no task %s: %s has %s"
              .formatted(task, run.id(), tasks == 1 ? "task 0 only" : "tasks 0 to " + (tasks - 1)),
          tasks == 1
              ? Advice.command("shows what it printed", "nexa-slurm", "logs", run.id())
              : Advice.command("shows its tasks", "nexa-slurm", "runs", "show", run.id()));
    }
  }

  /**
   * Several runs can match: Slurm and the local scheduler count separately, and Slurm's ids can
   * start again.
   */
  private RunFolder byJob(long jobId) {
    List<RunFolder> runs =
        workspace.allRuns().stream().map(workspace::run).filter(run -> hasJob(run, jobId)).toList();
    if (runs.size() == 1) {
      return withFolder(runs.get(0));
    }
    List<String> ids = runs.stream().map(run -> run.id().value()).toList();
    throw new NexaException(
        runs.isEmpty() ? ErrorCode.RUN_UNKNOWN : ErrorCode.REFERENCE_AMBIGUOUS,
        runs.isEmpty()
            ? "no run here made job " + jobId
            : "job " + jobId + " is of several runs: " + String.join(", ", ids),
        Advice.command(
            "shows the runs; `nexa-slurm runs show RUN` shows the jobs of one",
            "nexa-slurm",
            "runs",
            "list"));
  }

  private static boolean hasJob(RunFolder run, long jobId) {
    try {
      return submission(run, jobId).isPresent() || LostFolder.namesJob(run, jobId);
    } catch (RuntimeException unreadable) {
      // Reconcile reports a damaged journal. It must not hide the other runs.
      return false;
    }
  }

  private static Optional<Submission> submission(RunFolder run, long jobId) {
    return RunState.of(run.journal().read()).submissions().stream()
        .filter(submission -> submission.jobId().equals(Optional.of(jobId)))
        .findFirst();
  }

  /** Returns the run's task number for an array index of the job. */
  private static int task(RunFolder run, long jobId, int index) {
    Submission submission = submission(run, jobId).orElseThrow();
    int task = index + submission.offset();
    if (!submission.tasks().indices().contains(task)) {
      IndexRange array = submission.tasks().plus(-submission.offset());
      throw ErrorCode.RUN_UNKNOWN.error(
          "there is no task "
              + index
              + ": job "
              + jobId
              + (array.indices().size() == 1 ? " has task " : " has tasks ")
              + array.toString().replace("-", " to "));
    }
    return task;
  }

  /**
   * Returns the name of the scheduler that has the run's jobs; {@code local} if the run was never
   * planned.
   */
  public static String scheduler(RunFolder run) {
    return scheduler(run, run.journal().read());
  }

  /**
   * Returns the name of the scheduler that has the run's jobs.
   *
   * @param events the run's journal, which names the scheduler; the plan is read only if the
   *     journal does not, because it may have been edited
   */
  public static String scheduler(RunFolder run, List<Event> events) {
    return events.stream()
        .filter(event -> event.type() == Event.Type.SUBMITTING)
        .flatMap(event -> event.data().optionalText("scheduler").stream())
        .findFirst()
        .orElseGet(
            () -> Files.exists(run.plan()) ? run.shownPlan().scheduler() : ClusterProfile.LOCAL);
  }
}
