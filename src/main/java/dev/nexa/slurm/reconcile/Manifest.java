package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.units.Money;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code <run_id>.json}: the seeds' manifest and our own keys (docs/schemas/manifest.schema.json).
 * Pure: the same facts are the same bytes, so nothing of now is in it.
 */
public final class Manifest {
  private Manifest() {}

  public static JsonObject of(
      RunFacts facts, RunState journal, RunOutcome outcome, Results results) {
    JsonObject metrics = results.metrics();
    Money cost = CostRecord.total(facts, journal, outcome, results);
    boolean dollars = cost.currency().equals("USD");
    JsonObject manifest =
        new JsonObject()
            .with("run_id", facts.id().value())
            .with("stage", facts.stage())
            .with("status", outcome.status())
            .with("model", orNull(facts.model()))
            .with("dataset", orNull(facts.dataset()))
            .with("checkpoint", orNull(text(metrics, "checkpoint")))
            .with("logs", facts.logs())
            .with("eval_report", orNull(text(metrics, "eval_report")))
            .with("hardware", facts.hardware())
            .with("cost_usd", dollars ? cost.amount() : null)
            .with("tags", facts.tags())
            .with("wandb_run_id", orNull(text(metrics, "wandb_run_id")))
            .with("schema_version", 1)
            .with("state", outcome.state())
            .with("cost", cost.amount().toPlainString())
            .with("currency", cost.currency())
            .with("cluster", facts.cluster())
            .with("scheduler", facts.scheduler())
            .with("config_digest", orNull(facts.estimate().optionalText("config_digest")))
            .with("tasks", tasks(facts, outcome))
            .with("attempts", outcome.attempts().size())
            .with("metrics", metrics);
    manifest.withOptional("created", journal.created());
    manifest.withOptional("started", first(outcome.attempts()));
    if (outcome.ended()) {
      manifest.withOptional("ended", ended(outcome));
    }
    manifest.withOptional("mlflow_run_id", text(metrics, "mlflow_run_id"));
    if (!outcome.disagreements().isEmpty()) {
      manifest.with("disagreements", outcome.disagreements());
    }
    if (!results.unfitNodes().isEmpty()) {
      manifest.with("unfit_nodes", results.unfitNodes());
    }
    return manifest.with("submissions", submissions(journal));
  }

  /** When the last attempt gave its allocation back. */
  static Optional<Instant> ended(RunOutcome outcome) {
    return outcome.attempts().stream().flatMap(row -> row.end().stream()).max(Instant::compareTo);
  }

  private static Optional<Instant> first(List<AccountingRecord> attempts) {
    Optional<Instant> first = Optional.empty();
    for (AccountingRecord row : attempts) {
      boolean earlier =
          row.start().isPresent() && (first.isEmpty() || row.start().get().isBefore(first.get()));
      first = earlier ? row.start() : first;
    }
    return first;
  }

  private static JsonObject tasks(RunFacts facts, RunOutcome outcome) {
    JsonObject states = new JsonObject();
    for (Map.Entry<JobState, Integer> state : outcome.counts().entrySet()) {
      states.with(state.getKey().name().toLowerCase(Locale.ROOT), state.getValue());
    }
    return new JsonObject().with("total", facts.tasks()).with("states", states);
  }

  private static List<JsonObject> submissions(RunState journal) {
    List<JsonObject> submissions = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      JsonObject json =
          new JsonObject()
              .with("key", submission.key())
              .with("tasks", submission.tasks().toString())
              .with("phase", submission.phase().name().toLowerCase(Locale.ROOT))
              .withOptional("job_id", submission.jobId());
      if (!submission.dependency().isEmpty()) {
        json.with("dependency", submission.dependency());
      }
      if (!submission.duplicates().isEmpty()) {
        json.with("duplicates", submission.duplicates());
      }
      submissions.add(
          submission.message().isEmpty() ? json : json.with("message", submission.message()));
    }
    return submissions;
  }

  private static Optional<String> text(JsonObject metrics, String name) {
    return metrics.members().get(name) instanceof String text
        ? Optional.of(text)
        : Optional.empty();
  }

  private static @Nullable Object orNull(Optional<String> value) {
    return value.orElse(null);
  }
}
