package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of a submit or a rerun.
 *
 * @param tasks the tasks to submit
 * @param estimate the run's estimate
 * @param total the upper bound of the cost
 * @param asks what the sum is for, in words; empty for a rerun
 * @param notes lines for the user about how the run was planned
 * @param ownFiles the workspace's own files that the run was made from
 * @param scheduler the scheduler's name
 * @param keys the keys of the submissions
 * @param answers the scheduler's answer to each submission, in order; never empty
 */
public record Submitted(
    RunFolder run,
    IndexRange tasks,
    EstimateFile estimate,
    Money total,
    String asks,
    List<String> notes,
    List<String> ownFiles,
    String scheduler,
    List<String> keys,
    List<SubmitAnswer> answers,
    RunOutcome outcome) {

  /** Returns the last answer. A submit stops at the first answer that is not a job. */
  public SubmitAnswer answer() {
    return answers.get(answers.size() - 1);
  }

  /**
   * Returns the upper bound of the cost for people: {@code at most 5.12 USD}, {@code less than 0.01
   * USD}.
   */
  public String atMost() {
    return total.atMost(CostLine.unrounded(estimate.lines()));
  }

  /** Returns the scheduler's message if it made no job, or may have made one; else null. */
  private @Nullable String message() {
    SubmitAnswer answer = answer();
    if (answer instanceof SubmitAnswer.Submitted) {
      return null;
    }
    return answer instanceof SubmitAnswer.Refused refused
        ? refused.message()
        : ((SubmitAnswer.Unknown) answer).message();
  }

  /** The document that {@code --json} prints. */
  public JsonObject json() {
    List<JsonObject> jobs = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      if (answers.get(i) instanceof SubmitAnswer.Submitted submitted) {
        String cluster = submitted.cluster().isEmpty() ? scheduler : submitted.cluster();
        jobs.add(
            new JsonObject()
                .with("cluster", cluster)
                .with("job_id", submitted.jobId())
                .with("submit_time", null)
                .with("name", keys.get(i)));
      }
    }
    List<String> told = notes.stream().map(note -> note.replaceFirst("^note: ", "")).toList();
    return new JsonObject()
        .with("schema_version", 1)
        .with("run_id", run.id().value())
        .with("status", outcome.status().text())
        .with("state", outcome.state())
        .with("message", message())
        .with("jobs", jobs)
        .with("tasks", tasks.indices().size())
        .withOptional("notes", told.isEmpty() ? Optional.empty() : Optional.of(told))
        .with("estimate", estimate.json())
        .with(
            "files",
            new JsonObject()
                .with("script", run.script().toString())
                .with("plan", run.plan().toString())
                .with("manifest", run.manifest().toAbsolutePath().normalize().toString())
                .with("cost", run.cost().toAbsolutePath().normalize().toString()));
  }
}
