package dev.nexa.slurm.app;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.units.IndexRange;
import dev.nexa.slurm.units.Money;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of a submit or a rerun.
 *
 * @param tasks those that were to be submitted
 * @param estimate what they can cost, as {@code --json} prints it
 * @param total the most they can cost
 * @param notes what a person should know of how it was planned
 * @param ownFiles the workspace's own files that it was made from
 * @param scheduler its name
 * @param keys the submissions'
 * @param answers what the scheduler said to each submission, in order
 */
public record Submitted(
    RunFolder run,
    IndexRange tasks,
    JsonObject estimate,
    Money total,
    List<String> notes,
    List<String> ownFiles,
    String scheduler,
    List<String> keys,
    List<SubmitAnswer> answers,
    RunOutcome outcome) {

  /** What the scheduler said last: the first answer that was no job ends the run's submit. */
  public SubmitAnswer answer() {
    return answers.get(answers.size() - 1);
  }

  /** What the scheduler said where it made no job, or may have made one. */
  private @Nullable String message() {
    SubmitAnswer answer = answer();
    if (answer instanceof SubmitAnswer.Refused refused) {
      return refused.message();
    }
    return answer instanceof SubmitAnswer.Unknown unknown ? unknown.message() : null;
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
    return new JsonObject()
        .with("schema_version", 1)
        .with("run_id", run.id().value())
        .with("status", outcome.status())
        .with("state", outcome.state())
        .with("message", message())
        .with("jobs", jobs)
        .with("tasks", tasks.indices().size())
        .with("estimate", estimate)
        .with(
            "files",
            new JsonObject()
                .with("script", run.script().toString())
                .with("plan", run.plan().toString())
                .with("manifest", run.manifest().toAbsolutePath().normalize().toString())
                .with("cost", run.cost().toAbsolutePath().normalize().toString()));
  }
}
