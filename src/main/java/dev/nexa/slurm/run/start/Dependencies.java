package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import dev.nexa.slurm.run.reconcile.TaskOutcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Translates {@code --dependency} from runs to job ids.
 *
 * <p>The text is what sbatch(1) accepts, such as {@code afterok:RUN} or {@code afterany:RUN:RUN},
 * with runs in place of job ids; commas separate several dependencies. A dependency that is already
 * met is left out, because slurmctld forgets a job minutes after its end (MinJobAge).
 */
final class Dependencies {
  private static final List<String> TYPES =
      List.of("afterok", "afterany", "afternotok", "aftercorr");
  private static final Pattern FOREIGN = Pattern.compile("\\d{1,18}");
  private static final Duration OLDEST_JOB = Duration.ofDays(365);

  private final Context context;
  private final String scheduler;

  Dependencies(Context context, String scheduler) {
    this.context = context;
    this.scheduler = scheduler;
  }

  /**
   * Returns the value of sbatch's {@code --dependency}; empty if everything is met.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the text is malformed, names no run, or
   *     can never be met
   */
  String onJobs(String text) {
    List<String> open = new ArrayList<>();
    for (String one : text.split(",", -1)) {
      String[] parts = one.split(":", -1);
      boolean known = TYPES.contains(parts[0]);
      if (!known || parts.length < 2 || parts[1].isEmpty()) {
        throw wrong(
            "--dependency: expected TYPE:RUN, such as afterok:latest, got '"
                + one
                + "'"
                + (known ? ", which names no run" : Nearest.hint(parts[0], TYPES)),
            Advice.step("types are " + String.join(", ", TYPES)));
      }
      StringBuilder jobs = new StringBuilder(parts[0]);
      for (int i = 1; i < parts.length; i++) {
        jobs(parts[0], parts[i]).forEach(id -> jobs.append(':').append(id));
      }
      if (jobs.length() > parts[0].length()) {
        open.add(jobs.toString());
      }
    }
    return String.join(",", open);
  }

  private List<Long> jobs(String type, String reference) {
    RunFolder run;
    try {
      run = new RunLookup(context.workspace()).find(reference).run();
    } catch (NexaException noRun) {
      if (FOREIGN.matcher(reference).matches()) {
        return foreign(type, Long.parseLong(reference));
      }
      throw noRun;
    }
    RunState state = RunState.of(run.journal().read());
    if (state.finished()) {
      ManifestFile manifest = ManifestFile.read(run);
      requireMet(type, run, manifest.status(), manifest.state());
      return List.of();
    }
    return unfinished(type, run, state);
  }

  /**
   * Returns a job that is no run's, if it has not ended.
   *
   * <p>Slurm 22.05 starts a job at once if it waits for a job that slurmctld has forgotten, even if
   * that job failed. So ended tasks are judged here, and an unknown job is refused.
   */
  private List<Long> foreign(String type, long id) {
    Scheduler asked = context.scheduler(scheduler);
    Map<Integer, JobState> newest = new TreeMap<>();
    if (asked.keepsAccounting()) {
      Instant since = Instant.now().minus(OLDEST_JOB);
      asked.accounting(AccountingQuery.byIds(List.of(id), since), row -> note(row, newest));
    }
    asked.remembered(id).forEach(job -> note(job.row(), newest));
    String reference = type + ":" + id;
    if (newest.isEmpty()) {
      throw wrong(
          "--dependency: " + scheduler + " knows no job " + id + " that you may see",
          Advice.step("Slurm would not wait for it: leave " + reference + " out, or correct it"));
    }
    boolean open = newest.values().stream().anyMatch(state -> !state.endsTask());
    boolean failed =
        newest.values().stream().anyMatch(s -> s.endsTask() && s != JobState.COMPLETED);
    boolean never =
        switch (type) {
          case "afterany" -> false;
          case "afternotok" -> !open && !failed;
          default -> failed;
        };
    if (never) {
      throw wrong(
          "--dependency: "
              + reference
              + " can never be met: "
              + (failed ? "a task of it has not completed" : "it has completed"),
          Advice.step("nothing was submitted"));
    }
    return open ? List.of(id) : List.of();
  }

  private static void note(AccountingRecord row, Map<Integer, JobState> newest) {
    List<Integer> tasks = row.tasks().indices();
    for (int task : tasks.isEmpty() ? List.of(0) : tasks) {
      newest.put(task, row.state());
    }
  }

  /**
   * Returns the jobs that hold tasks which have not ended.
   *
   * <p>Ended tasks are judged here, because Slurm treats a job that it has forgotten as one that
   * ended well. This only reads: a reconcile pass could submit jobs.
   */
  private List<Long> unfinished(String type, RunFolder run, RunState state) {
    TaskEvidence evidence = TaskEvidence.gather(context.scheduler(scheduler), List.of(state));
    RunOutcome outcome =
        evidence.outcome(run, RunFacts.of(run, ProvenFiles.of(run)), state, new ArrayList<>());
    if (outcome.ended()) {
      requireMet(type, run, outcome.status(), outcome.state());
      return List.of();
    }
    Map<Integer, Submission> newest = state.newest();
    Set<Long> jobs = new TreeSet<>();
    for (TaskOutcome task : outcome.tasks()) {
      if (!task.ended()) {
        Submission holder = newest.get(task.task());
        jobs.add(
            Optional.ofNullable(holder)
                .flatMap(Submission::jobId)
                .orElseThrow(
                    () ->
                        wrong(
                            "--dependency: it is not known yet which jobs " + run.id() + " has",
                            Advice.command(
                                "finds out; then type this again", "nexa-slurm", "reconcile"))));
      } else if (type.equals("afterok") && task.state() != JobState.COMPLETED) {
        throw wrong(
            "--dependency: afterok:" + run.id() + " can never be met: a task of it has failed",
            Advice.step("nothing was submitted"));
      }
    }
    if (type.equals("aftercorr") && jobs.size() > 1) {
      throw wrong(
          "--dependency: "
              + run.id()
              + " has several jobs, so its tasks correspond to no one array",
          Advice.step("use afterok:" + run.id()));
    }
    return List.copyOf(jobs);
  }

  private static void requireMet(String type, RunFolder run, RunStatus status, String state) {
    boolean completed = status == RunStatus.COMPLETED;
    boolean met = type.equals("afterany") || completed != type.equals("afternotok");
    if (!met) {
      throw wrong(
          "--dependency: " + type + ":" + run.id() + " can never be met: it has " + status.text(),
          completed || state.equals("cancelled")
              ? Advice.step("nothing was submitted")
              : Advice.command(
                  "runs again what failed", "nexa-slurm", "rerun", "--failed", run.id()));
    }
  }

  private static NexaException wrong(String message, Advice advice) {
    return new NexaException(ErrorCode.DEPENDENCY_INVALID, message, advice);
  }
}
