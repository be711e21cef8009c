package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.units.IndexRange;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the run that a person means: a run id, {@code latest}, a Slurm job id, or {@code 12345_7}.
 */
public final class RunLookup {
  private static final Pattern JOB = Pattern.compile("(\\d{1,18})(?:_(\\d{1,7}))?");

  private final Workspace workspace;

  public RunLookup(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * What was meant.
   *
   * @param task the task, where {@code 12345_7} named one
   */
  public record Found(RunFolder run, OptionalInt task) {}

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
          ExitCode.USAGE,
          "there is no run "
              + reference
              + " in "
              + workspace.root().toAbsolutePath().normalize()
              + Nearest.hint(reference, names),
          "`nexa-slurm runs list` shows them; --workspace names another directory");
    }
    return new Found(run, OptionalInt.empty());
  }

  /** Refuses a task that the run does not have. */
  public static void requireTask(RunFolder run, int task) {
    long tasks = run.planJson().number("tasks");
    if (task < 0 || task >= tasks) {
      throw new NexaException(
          ExitCode.USAGE,
          "there is no task "
              + task
              + ": "
              + run.id()
              + " has "
              + (tasks == 1 ? "task 0 only" : "tasks 0 to " + (tasks - 1)));
    }
  }

  /** Slurm's ids and the local scheduler's are not told apart, and Slurm's may begin again. */
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
        ExitCode.USAGE,
        runs.isEmpty()
            ? "no run here made job " + jobId
            : "job " + jobId + " is of several runs: " + String.join(", ", ids),
        "name the run; `nexa-slurm runs list` shows them, `nexa-slurm runs show RUN` its jobs");
  }

  private static boolean made(RunFolder run, long jobId) {
    try {
      return submission(run, jobId).isPresent();
    } catch (NexaException unreadable) {
      // A damaged journal is reconcile's to tell; it must not hide the others.
      return false;
    }
  }

  private static Optional<Submission> submission(RunFolder run, long jobId) {
    return RunState.of(run.journal().read()).submissions().stream()
        .filter(submission -> submission.jobId().equals(Optional.of(jobId)))
        .findFirst();
  }

  /** The run's number of the job's task with that array index. */
  private static int task(RunFolder run, long jobId, int index) {
    Submission submission = submission(run, jobId).orElseThrow();
    int task = index + submission.offset();
    if (!submission.tasks().indices().contains(task)) {
      IndexRange array = submission.tasks().plus(-submission.offset());
      throw new NexaException(
          ExitCode.USAGE,
          "there is no task "
              + index
              + ": job "
              + jobId
              + (array.indices().size() == 1 ? " has task " : " has tasks ")
              + array.toString().replace("-", " to "));
    }
    return task;
  }

  /** Which scheduler has the run's jobs; one that died before it was planned has none to ask. */
  static String scheduler(RunFolder run) {
    return Files.exists(run.plan())
        ? Json.parseObject(DurableFiles.read(run.plan())).text("scheduler")
        : "local";
  }
}
