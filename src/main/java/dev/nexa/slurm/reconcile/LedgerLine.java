package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.Tres;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A run's line in the ledger: all that sums over many runs need, so that they need not open 100,000
 * manifests. What is not known is null. Money is text, in the line's currency.
 */
final class LedgerLine {
  /** Which of a run's metrics is its loss: the first that is there. */
  private static final List<String> LOSS = List.of("train_loss", "loss", "eval_loss");

  private LedgerLine() {}

  /**
   * The line of a run that has ended.
   *
   * @param manifest as it is written
   * @param cost as it is written
   */
  static JsonObject of(
      RunFolder run, RunFacts facts, RunOutcome outcome, JsonObject manifest, JsonObject cost) {
    List<AccountingRecord> attempts = outcome.attempts();
    Optional<AccountingRecord> last =
        attempts.isEmpty() ? Optional.empty() : Optional.of(attempts.get(attempts.size() - 1));
    return new JsonObject()
        .with("run_id", facts.id().value())
        .with("version", cost.number("version"))
        .with("stage", facts.stage())
        .with("status", outcome.status())
        .with("state", outcome.state())
        .with("model", facts.model().orElse(null))
        .with("dataset", facts.dataset().orElse(null))
        .with("backend", backend(facts.tags()))
        .with("tags", new ArrayList<>(facts.tags()))
        .with("cluster", facts.cluster())
        .with("user", known(last.map(AccountingRecord::user).or(() -> user(run))))
        .with("account", known(last.map(AccountingRecord::account)))
        .with("partition", known(last.map(AccountingRecord::partition)))
        .with(
            "gpu_type", outcome.used().gpuSeconds().isEmpty() ? null : facts.gpuType().orElse(null))
        .with("currency", cost.text("currency"))
        .with("cost", cost.decimal("total").toPlainString())
        .with("wasted", cost.text("wasted"))
        .with("credit", cost.object("credit").text("amount"))
        .with("lines", byKind(cost, "amount"))
        .with("quantities", byKind(cost, "quantity"))
        .with("reservation", reservation(cost))
        .with("expected", expected(facts.estimate()))
        .with("expected_method", method(facts.estimate()))
        .with("gpu_seconds", sum(outcome.used().gpuSeconds()))
        .with("gpu_seconds_wasted", sum(outcome.wasted().gpuSeconds()))
        .with("cpu_seconds", outcome.used().cpuSeconds())
        .with("cpu_seconds_wasted", outcome.wasted().cpuSeconds())
        .with("tasks", facts.tasks())
        .with("tasks_failed", outcome.tasks().stream().filter(task -> !task.completed()).count())
        .with("attempts", attempts.size())
        .with("longest_seconds", longest(attempts))
        .with("gpus", facts.plannedGpus())
        .with("cpus", Tres.parse(facts.plannedTres()).cpus())
        .with("data_tokens", data(facts.estimate(), "tokens"))
        .with("data_bytes", data(facts.estimate(), "bytes"))
        .with("created", manifest.members().get("created"))
        .with("started", manifest.members().get("started"))
        .with("ended", manifest.members().get("ended"))
        .with("queue_seconds", queueSeconds(attempts))
        .with("loss", loss(manifest.object("metrics")))
        .with("price_book", facts.rates().book());
  }

  /** Who the scheduler says it was; of a run that never had a job, who made it. */
  private static Optional<String> user(RunFolder run) {
    List<Event> events = run.journal().read();
    return events.isEmpty() ? Optional.empty() : events.get(0).data().optionalText("user");
  }

  private static @Nullable String known(Optional<String> word) {
    return word.isPresent() && !word.get().isEmpty() ? word.get() : null;
  }

  private static @Nullable String backend(List<String> tags) {
    for (String tag : tags) {
      if (tag.startsWith("backend:")) {
        return tag.substring("backend:".length());
      }
    }
    return null;
  }

  /** The priced lines' amounts or quantities, added up by what stands before the colon. */
  private static JsonObject byKind(JsonObject cost, String member) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    for (JsonObject line : cost.object("actual").objects("lines")) {
      String kind = line.text("what").split(":", 2)[0];
      sums.merge(kind, new BigDecimal(line.text(member)), BigDecimal::add);
    }
    JsonObject byKind = new JsonObject();
    sums.forEach((kind, sum) -> byKind.with(kind, sum.toPlainString()));
    return byKind;
  }

  private static long sum(Map<String, Long> byType) {
    long sum = 0;
    for (long seconds : byType.values()) {
      sum += seconds;
    }
    return sum;
  }

  /** Nothing was estimated, nor reserved, for what was submitted without us. */
  private static @Nullable String reservation(JsonObject cost) {
    JsonObject estimate = cost.object("estimate");
    return estimate.optionalText("config_digest").isPresent() ? estimate.text("reservation") : null;
  }

  /** What it would probably cost, where the estimate said so. */
  private static @Nullable String expected(JsonObject estimate) {
    Object expected = estimate.members().get("expected");
    if (expected instanceof JsonObject object) {
      expected = object.members().get("total");
    }
    return expected instanceof String || expected instanceof BigDecimal
        ? new BigDecimal(expected.toString()).toPlainString()
        : null;
  }

  /** By what that was said: {@code history}, {@code analytic} or {@code config}. */
  private static @Nullable String method(JsonObject estimate) {
    Optional<JsonObject> expected = estimate.optionalObject("expected");
    return expected.isPresent() ? expected.get().optionalText("method").orElse(null) : null;
  }

  /** Seconds of the attempt that held its allocation the longest. */
  private static @Nullable Long longest(List<AccountingRecord> attempts) {
    long longest = -1;
    for (AccountingRecord attempt : attempts) {
      longest = Math.max(longest, attempt.elapsedSeconds());
    }
    return longest < 0 ? null : (Long) longest;
  }

  private static @Nullable BigDecimal data(JsonObject estimate, String member) {
    Optional<JsonObject> data = estimate.optionalObject("data");
    return data.isPresent() ? data.get().optionalDecimal(member).orElse(null) : null;
  }

  /** From the first submission to the first start, both by the scheduler's clock. */
  private static @Nullable Long queueSeconds(List<AccountingRecord> attempts) {
    Optional<Instant> submitted =
        attempts.stream().map(AccountingRecord::submit).min(Comparator.naturalOrder());
    Optional<Instant> started =
        attempts.stream().flatMap(row -> row.start().stream()).min(Comparator.naturalOrder());
    return submitted.isEmpty() || started.isEmpty()
        ? null
        : Math.max(0, Duration.between(submitted.get(), started.get()).toSeconds());
  }

  private static @Nullable BigDecimal loss(JsonObject metrics) {
    for (String name : LOSS) {
      if (metrics.members().get(name) instanceof BigDecimal loss) {
        return loss;
      }
    }
    return null;
  }
}
