package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.DataSize;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.CostFile.Attempt;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a run's ledger line, which holds everything that sums over many runs need, so that they
 * open no manifests.
 *
 * <p>An unknown value is null. Money is a decimal string in the line's currency.
 */
final class LedgerRecord {
  /**
   * The metrics that can hold a run's loss; the first metric that is present is used. {@code
   * final_loss} is what our own configs/train/science/train.py writes.
   */
  private static final List<String> LOSS = List.of("train_loss", "loss", "final_loss", "eval_loss");

  private LedgerRecord() {}

  /**
   * Returns the line of a run that has ended. It needs only the run's two records, its plan and its
   * journal. So it can be made again after accounting has purged the run.
   *
   * @param facts the run's plan; empty for an imported run, and if the plan differs from the
   *     submitted one
   * @param manifest the content of the manifest
   * @param cost the content of the cost file
   */
  static JsonObject of(
      RunFolder run, Optional<RunFacts> facts, ManifestFile manifest, CostFile cost) {
    List<Event> events = run.journal().read();
    List<Attempt> attempts = cost.attempts();
    Attempt.Payer payer =
        attempts.isEmpty()
            ? new Attempt.Payer(Optional.empty(), Optional.empty(), Optional.empty())
            : attempts.get(attempts.size() - 1).payer();
    Optional<EstimateFile> estimate = facts.map(RunFacts::estimate);
    DataSize data = estimate.map(EstimateFile::data).orElse(DataSize.UNKNOWN);
    long gpuSeconds = 0;
    long gpuSecondsWasted = 0;
    long cpuSeconds = 0;
    long cpuSecondsWasted = 0;
    Set<JobState> withResult = RunOutcome.withResult(manifest.stage());
    for (Attempt attempt : attempts) {
      long seconds = attempt.elapsedSeconds();
      long gpus = attempt.held().gpuCount();
      boolean wasted = !withResult.contains(JobState.parse(attempt.state()));
      gpuSeconds += gpus * seconds;
      gpuSecondsWasted += wasted ? gpus * seconds : 0;
      cpuSeconds += attempt.held().cpus() * seconds;
      cpuSecondsWasted += wasted ? attempt.held().cpus() * seconds : 0;
    }
    long tasks = manifest.tasks();
    long completed = manifest.states().optionalNumber("completed").orElse(0L);
    return new LedgerLine.Draft(run.id().value())
        .with(LedgerKey.VERSION, cost.version())
        .with(LedgerKey.STAGE, manifest.stage())
        .with(LedgerKey.STATUS, manifest.status().text())
        .with(LedgerKey.STATE, manifest.state())
        .with(LedgerKey.MODEL, manifest.model())
        .with(LedgerKey.DATASET, manifest.dataset())
        .with(LedgerKey.BACKEND, backend(manifest.tags()))
        .with(LedgerKey.TAGS, manifest.tags())
        .with(LedgerKey.CLUSTER, manifest.cluster())
        .with(LedgerKey.USER, payer.user().or(() -> user(events)))
        .with(LedgerKey.ACCOUNT, payer.account())
        .with(LedgerKey.PARTITION, payer.partition())
        .with(LedgerKey.GPU_TYPE, gpuSeconds == 0 ? null : gpuType(facts, attempts))
        .with(LedgerKey.CURRENCY, cost.currency())
        .with(LedgerKey.COST, cost.total())
        .with(LedgerKey.WASTED, cost.wasted())
        .with(LedgerKey.CREDIT, cost.credit())
        .with(LedgerKey.LINES, byKind(cost, line -> line.amount().amount()))
        .with(LedgerKey.QUANTITIES, byKind(cost, CostLine::quantity))
        .with(
            LedgerKey.RESERVATION,
            cost.isOfImported() ? null : cost.reservation().amount().toPlainString())
        .with(
            LedgerKey.EXPECTED,
            estimate.flatMap(EstimateFile::expected).map(BigDecimal::toPlainString))
        .with(LedgerKey.EXPECTED_METHOD, estimate.flatMap(EstimateFile::expectedMethod))
        .with(LedgerKey.GPU_SECONDS, gpuSeconds)
        .with(LedgerKey.GPU_SECONDS_WASTED, gpuSecondsWasted)
        .with(LedgerKey.CPU_SECONDS, cpuSeconds)
        .with(LedgerKey.CPU_SECONDS_WASTED, cpuSecondsWasted)
        .with(LedgerKey.TASKS, tasks)
        .with(LedgerKey.TASKS_FAILED, tasks - completed)
        .with(LedgerKey.ATTEMPTS, attempts.size())
        .with(LedgerKey.LONGEST_SECONDS, longest(attempts))
        .with(LedgerKey.GPUS, facts.map(known -> known.planned().sum(RunFacts.Planned::gpus)))
        .with(
            LedgerKey.CPUS,
            facts.map(known -> known.planned().sum(one -> Tres.parse(one.tres()).cpus())))
        .with(LedgerKey.DATA_TOKENS, data.tokens())
        .with(LedgerKey.DATA_BYTES, data.bytes())
        .with(LedgerKey.CREATED, manifest.created())
        .with(LedgerKey.STARTED, manifest.started())
        .with(LedgerKey.ENDED, manifest.ended())
        .with(LedgerKey.QUEUE_SECONDS, queueSeconds(attempts))
        .with(LedgerKey.LOSS, loss(manifest.metrics()))
        .with(LedgerKey.PRICE_BOOK, cost.priceBook())
        .with(LedgerKey.APPROVAL, RunState.approval(events))
        .json();
  }

  /** Returns the planned GPU type; for an imported run, the first type that an attempt held. */
  private static @Nullable String gpuType(Optional<RunFacts> facts, List<Attempt> attempts) {
    return facts.isPresent()
        ? facts.get().planned().gpuType().orElse(null)
        : attempts.stream()
            .flatMap(attempt -> attempt.held().gpus().keySet().stream())
            .findFirst()
            .orElse(null);
  }

  /** Returns the user who made the run, for a run that never had a job. */
  private static Optional<String> user(List<Event> events) {
    return events.stream().findFirst().flatMap(event -> event.data().optionalText("user"));
  }

  private static @Nullable String backend(List<String> tags) {
    return tags.stream()
        .filter(tag -> tag.startsWith("backend:"))
        .findFirst()
        .map(tag -> tag.substring("backend:".length()))
        .orElse(null);
  }

  /**
   * Sums the amounts or quantities of the cost lines by kind, the part of their name before the
   * colon.
   */
  private static JsonObject byKind(CostFile cost, Function<CostLine, BigDecimal> member) {
    Map<String, BigDecimal> sums = new TreeMap<>();
    cost.lines()
        .forEach(it -> sums.merge(it.what().split(":", 2)[0], member.apply(it), BigDecimal::add));
    JsonObject byKind = new JsonObject();
    sums.forEach((kind, sum) -> byKind.with(kind, sum.toPlainString()));
    return byKind;
  }

  /** Returns the seconds of the longest attempt; null if there is none. */
  private static @Nullable Long longest(List<Attempt> attempts) {
    return attempts.stream()
        .map(Attempt::elapsedSeconds)
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  /**
   * Returns the seconds from the first submit time to the first start, both by the scheduler's
   * clock.
   */
  private static @Nullable Long queueSeconds(List<Attempt> attempts) {
    Optional<Instant> submitted =
        attempts.stream().flatMap(one -> one.submit().stream()).min(Comparator.naturalOrder());
    Optional<Instant> started =
        attempts.stream().flatMap(one -> one.start().stream()).min(Comparator.naturalOrder());
    return submitted.isEmpty() || started.isEmpty()
        ? null
        : Math.max(0, Duration.between(submitted.get(), started.get()).toSeconds());
  }

  static @Nullable BigDecimal loss(JsonObject metrics) {
    for (String name : LOSS) {
      if (metrics.members().get(name) instanceof BigDecimal loss) {
        return loss;
      }
    }
    return null;
  }
}
