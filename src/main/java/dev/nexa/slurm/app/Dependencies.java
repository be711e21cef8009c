package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.reconcile.Evidence;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.TaskOutcome;
import dev.nexa.slurm.scheduler.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * What a run waits for: {@code afterok:RUN}, {@code afterany:RUN:RUN}, {@code aftercorr:RUN},
 * several separated by commas, as sbatch(1) writes it, with runs where sbatch has job ids. What is
 * met already is left out: Slurm forgets a job minutes after its end.
 */
final class Dependencies {
  private static final List<String> TYPES =
      List.of("afterok", "afterany", "afternotok", "aftercorr");
  private static final Pattern FOREIGN = Pattern.compile("\\d{1,18}");

  private final Nexa nexa;
  private final String scheduler;

  Dependencies(Nexa nexa, String scheduler) {
    this.nexa = nexa;
    this.scheduler = scheduler;
  }

  /** The option for sbatch; empty where everything is met. */
  String onJobs(String text) {
    if (scheduler.equals("local")) {
      throw wrong("--dependency: the local scheduler knows no dependencies", "leave --local out");
    }
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
            "types are " + String.join(", ", TYPES));
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
      run = new RunLookup(nexa.workspace()).find(reference).run();
    } catch (NexaException noRun) {
      if (FOREIGN.matcher(reference).matches()) {
        return List.of(Long.parseLong(reference));
      }
      throw noRun;
    }
    RunState state = RunState.of(run.journal().read());
    if (state.finished()) {
      JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
      requireMet(type, run, manifest.text("status"), manifest.text("state"));
      return List.of();
    }
    return unfinished(type, run, state);
  }

  /**
   * The jobs that hold tasks which have not ended. What has ended is ours to judge: Slurm takes a
   * job that it has forgotten for one that ended well. It is only looked at: a reconcile may
   * submit.
   */
  private List<Long> unfinished(String type, RunFolder run, RunState state) {
    Evidence evidence = Evidence.gather(nexa.scheduler(scheduler), List.of(state));
    RunOutcome outcome = evidence.outcome(run, RunFacts.of(run), state, new ArrayList<>());
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
                            "type `nexa-slurm reconcile`, then this again")));
      } else if (type.equals("afterok") && task.state() != JobState.COMPLETED) {
        throw wrong(
            "--dependency: afterok:" + run.id() + " can never be met: a task of it has failed",
            "nothing was submitted");
      }
    }
    if (type.equals("aftercorr") && jobs.size() > 1) {
      throw wrong(
          "--dependency: "
              + run.id()
              + " has several jobs, so its tasks correspond to no one array",
          "use afterok:" + run.id());
    }
    return List.copyOf(jobs);
  }

  private static void requireMet(String type, RunFolder run, String status, String state) {
    boolean completed = status.equals("completed");
    boolean met = type.equals("afterany") || completed != type.equals("afternotok");
    if (!met) {
      throw wrong(
          "--dependency: " + type + ":" + run.id() + " can never be met: it has " + status,
          completed || state.equals("cancelled")
              ? "nothing was submitted"
              : "`nexa-slurm rerun --failed " + run.id() + "` runs again what failed");
    }
  }

  private static NexaException wrong(String message, String advice) {
    return new NexaException(ExitCode.USAGE, message, advice);
  }
}
