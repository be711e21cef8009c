package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Says which jobs a run waits for now: translates runs to the value of sbatch's {@code
 * --dependency}.
 *
 * <p>Tasks that have ended are judged here and left out. The daemon slurmctld forgets a job minutes
 * after its end (MinJobAge). Slurm 22.05 starts a job at once if it waits for a forgotten job, even
 * if that job failed. This class only reads: a reconcile pass could submit jobs.
 *
 * @param evidence what the scheduler says of the earlier runs; if empty, it is asked
 */
public record EarlierJobs(
    Workspace workspace, Scheduler scheduler, Optional<TaskEvidence> evidence) {
  private static final Duration OLDEST_JOB = Duration.ofDays(365);

  /** The answer for one run. */
  public sealed interface Answer {}

  /**
   * The run may be submitted.
   *
   * @param dependency the value of sbatch's {@code --dependency}; empty if everything is met
   */
  public record Waits(String dependency) implements Answer {}

  /**
   * The run can never start, unless an earlier run is run again.
   *
   * @param reason a sentence without a full stop
   */
  public record Never(String reason, Advice advice) implements Answer {}

  /**
   * It is not known yet which jobs the run waits for.
   *
   * @param reason a sentence without a full stop
   */
  public record NotYet(String reason) implements Answer {}

  /** Returns what a run waits for that must start after all of these. */
  public Answer of(List<Earlier> after) {
    List<String> open = new ArrayList<>();
    Optional<Answer> notYet = Optional.empty();
    for (Earlier one : after) {
      Answer answer = of(one);
      if (answer instanceof Never) {
        return answer;
      } else if (answer instanceof Waits waits && !waits.dependency().isEmpty()) {
        add(open, waits.dependency());
      } else if (answer instanceof NotYet) {
        notYet = Optional.of(answer);
      }
    }
    return notYet.orElse(new Waits(String.join(",", open)));
  }

  /** Adds a dependency; extends the last dependency if both have one type. */
  private static void add(List<String> open, String dependency) {
    String type = dependency.substring(0, dependency.indexOf(':') + 1);
    int last = open.size() - 1;
    if (last >= 0 && open.get(last).startsWith(type)) {
      open.set(last, open.get(last) + ":" + dependency.substring(type.length()));
    } else {
      open.add(dependency);
    }
  }

  private Answer of(Earlier earlier) {
    Optional<RunId> id = earlier.run();
    if (id.isEmpty()) {
      return foreign(earlier.type(), Long.parseLong(earlier.reference()));
    }
    RunFolder run = workspace.run(id.get());
    RunState state = RunState.of(run.journal().read());
    if (state.finished()) {
      ManifestFile manifest = ManifestFile.read(run);
      return ended(earlier, manifest.status(), manifest.state());
    }
    RunFacts facts = RunFacts.of(run, ProvenFiles.of(run));
    if (!facts.place().scheduler().equals(scheduler.name())) {
      return new Never(
          "%s runs on %s, and no job of %s can wait for it"
              .formatted(run.id(), facts.place().scheduler(), scheduler.name()),
          Advice.step("submit again when it has completed"));
    }
    return state.unsubmitted(facts.tasks(), facts.work().array().chain()).indices().isEmpty()
        ? unfinished(earlier, run, facts, state)
        : new NotYet(earlier.name() + " is not submitted yet");
  }

  /** Returns the jobs that hold tasks which have not ended. */
  private Answer unfinished(Earlier earlier, RunFolder run, RunFacts facts, RunState state) {
    TaskEvidence known =
        evidence.isPresent() ? evidence.get() : TaskEvidence.gather(scheduler, List.of(state));
    RunOutcome outcome = known.outcome(run, facts, state, new ArrayList<>());
    if (outcome.ended()) {
      return ended(earlier, outcome.status(), outcome.state());
    }
    Map<Integer, Submission> newest = state.newest();
    Set<Long> jobs = new TreeSet<>();
    boolean needsAll = earlier.type().equals("afterok");
    for (TaskOutcome task : outcome.tasks()) {
      Optional<Submission> holder = Optional.ofNullable(newest.get(task.task()));
      Optional<Long> job = holder.flatMap(Submission::jobId);
      if (!task.ended() && job.isEmpty()) {
        return new NotYet("it is not known yet which jobs " + earlier.name() + " has");
      } else if (!task.ended() && !known.mayHold(holder.orElseThrow())) {
        // A controller that was restored can lose the job and give its id to another job.
        return new NotYet(
            scheduler.name() + " does not list job " + job.get() + " of " + earlier.name());
      } else if (!task.ended()) {
        jobs.add(job.get());
      } else if (needsAll && task.state() != JobState.COMPLETED) {
        return new Never(
            earlier.type() + ":" + run.id() + " can never be met: a task of it has failed",
            Advice.step("nothing was submitted"));
      }
    }
    if (!earlier.type().equals("aftercorr") || jobs.size() == 1) {
      return new Waits(waits(earlier.type(), jobs));
    }
    // Tasks of several arrays correspond to no one array; all of them are then waited for.
    return earlier.stage().isPresent()
        ? new Waits(waits("afterok", jobs))
        : new Never(
            run.id() + " has several jobs, so its tasks correspond to no one array",
            Advice.step("use afterok:" + run.id()));
  }

  private static String waits(String type, Set<Long> jobs) {
    String ids = jobs.stream().map(id -> ":" + id).collect(Collectors.joining());
    return jobs.isEmpty() ? "" : type + ids;
  }

  private static Answer ended(Earlier earlier, RunStatus status, String state) {
    boolean completed = status == RunStatus.COMPLETED;
    if (earlier.type().equals("afterany") || completed != earlier.type().equals("afternotok")) {
      return new Waits("");
    }
    String run = earlier.reference();
    return new Never(
        earlier.type() + ":" + run + " can never be met: it has " + status.text(),
        completed || state.equals("cancelled")
            ? Advice.step("nothing was submitted")
            : Advice.command("runs again what failed", "nexa-slurm", "rerun", "--failed", run));
  }

  /** Judges a job that is no run's. An unknown job is refused. */
  private Answer foreign(String type, long id) {
    Map<Integer, JobState> newest = new TreeMap<>();
    if (scheduler.keepsAccounting()) {
      Instant since = Instant.now().minus(OLDEST_JOB);
      scheduler.accounting(AccountingQuery.byIds(List.of(id), since), row -> note(row, newest));
    }
    scheduler.remembered(id).forEach(job -> note(job.row(), newest));
    String reference = type + ":" + id;
    if (newest.isEmpty()) {
      return new Never(
          scheduler.name() + " knows no job " + id + " that you may see",
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
      return new Never(
          reference
              + " can never be met: "
              + (failed ? "a task of it has not completed" : "it has completed"),
          Advice.step("nothing was submitted"));
    }
    return new Waits(open ? reference : "");
  }

  private static void note(AccountingRecord row, Map<Integer, JobState> newest) {
    List<Integer> tasks = row.tasks().indices();
    for (int task : tasks.isEmpty() ? List.of(0) : tasks) {
      newest.put(task, row.state());
    }
  }
}
