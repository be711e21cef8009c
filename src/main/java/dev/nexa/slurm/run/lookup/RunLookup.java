package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.config.ClusterProfile;
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

/** Finds the run that a user names: by run id, {@code latest}, Slurm job id, or {@code 12345_7}. */
public final class RunLookup {
  private static final Pattern JOB = Pattern.compile("(\\d{1,18})(?:_(\\d{1,7}))?");

  private final Workspace workspace;

  public RunLookup(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * The run that was named.
   *
   * @param task the task, if the name was a job and array index such as {@code 12345_7}
   */
  public record Found(RunFolder run, OptionalInt task) {}

  /**
   * Returns the run with this name.
   *
   * @param reference a run id, {@code latest}, a job id, or {@code JOB_INDEX}
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such run or task, or if
   *     several runs have this job id
   */
  public Found find(String reference) {
    if (reference.equals("latest")) {
      return new Found(workspace.run(workspace.latest()), OptionalInt.empty());
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
    RunFolder run = workspace.run(new RunId(reference));
    if (!run.exists()) {
      List<String> names = workspace.allRuns().stream().map(RunId::value).toList();
      throw new NexaException(
          ErrorCode.RUN_UNKNOWN,
          "there is no run "
              + reference
              + " in "
              + workspace.root().toAbsolutePath().normalize()
              + Nearest.hint(reference, names),
          Advice.command(
              "shows them; --workspace names another directory", "nexa-slurm", "runs", "list"));
    }
    return new Found(run, OptionalInt.empty());
  }

  /**
   * Checks that the run has this task.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if it does not
   */
  public static void requireTask(RunFolder run, int task) {
    long tasks = run.shownPlan().tasks();
    if (task < 0 || task >= tasks) {
      throw new NexaException(
          ErrorCode.RUN_UNKNOWN,
          "there is no task "
              + task
              + ": "
              + run.id()
              + " has "
              + (tasks == 1 ? "task 0 only" : "tasks 0 to " + (tasks - 1)));
    }
  }

  /**
   * Several runs can match: Slurm and the local scheduler count separately, and Slurm's ids can
   * start again.
   */
  private RunFolder byJob(long jobId) {
    List<RunFolder> runs = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      if (made(workspace.run(id), jobId)) {
        runs.add(workspace.run(id));
      }
    }
    if (runs.size() == 1) {
      return runs.get(0);
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

  private static boolean made(RunFolder run, long jobId) {
    try {
      return submission(run, jobId).isPresent();
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
      throw new NexaException(
          ErrorCode.RUN_UNKNOWN,
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
    for (Event event : events) {
      if (event.type() == Event.Type.SUBMITTING) {
        Optional<String> asked = event.data().optionalText("scheduler");
        if (asked.isPresent()) {
          return asked.get();
        }
      }
    }
    return Files.exists(run.plan()) ? run.shownPlan().scheduler() : ClusterProfile.LOCAL;
  }
}
