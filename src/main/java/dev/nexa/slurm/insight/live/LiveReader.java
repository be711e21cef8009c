package dev.nexa.slurm.insight.live;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.telemetry.Measure;
import dev.nexa.slurm.records.telemetry.NodeTelemetry;
import dev.nexa.slurm.records.telemetry.TelemetryFile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads runs, pipelines and budgets again and again. Writes nothing.
 *
 * <p>Each scheduler is asked once for each snapshot, however many runs there are. A run that ends
 * while it is watched stays in the snapshots.
 */
public final class LiveReader {
  /** The ledger may be long, so budgets are not added up at each snapshot. */
  private static final Duration BUDGETS_LAST = Duration.ofMinutes(1);

  /** Each takes a folder and some files. */
  private static final int MOST_SAMPLED = 50;

  /** A sampler writes at least each half minute; an older sample is of a task that has ended. */
  private static final Duration NEW = Duration.ofMinutes(2);

  /** How many files are read: tasks start in order, so the last files are of running tasks. */
  private static final int MOST_FILES = 16;

  private final Context context;
  private final List<RunId> named;
  private final Set<RunId> seen = new LinkedHashSet<>();
  private final Map<RunId, RunRow> settled = new HashMap<>();
  private StatusRows status;
  private BudgetUsage.@Nullable Use use;
  private Instant useRead = Instant.MIN;
  private Set<RunId> useOf = Set.of();

  /**
   * Makes a reader.
   *
   * @param named the runs to watch; empty for all unfinished runs and pipelines
   */
  public LiveReader(Context context, List<RunId> named) {
    this.context = context;
    this.named = List.copyOf(named);
    this.status = new StatusRows(context);
  }

  /**
   * Returns the state at this moment.
   *
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if a scheduler cannot be asked
   */
  public LiveSnapshot read(Instant now) {
    List<String> problems = new ArrayList<>();
    seen.addAll(named.isEmpty() ? context.workspace().openRuns() : named);
    Map<RunId, RunRow> rows = rows(problems);
    List<PipelineProgress> pipelines = new ArrayList<>();
    if (named.isEmpty()) {
      ReadProgress progress = new ReadProgress(context);
      for (PipelineFolder folder : context.workspace().openPipelines()) {
        try {
          pipelines.add(progress.of(folder, rows, problems));
        } catch (RuntimeException broken) {
          problems.add(folder.id() + ": " + broken.getMessage());
        }
      }
    }
    BudgetUsage.Use known = use(rows, now, problems);
    List<LiveRun> runs = runs(rows, known, now);
    return new LiveSnapshot(now, runs, pipelines, budgets(known, rows, runs), problems);
  }

  private Map<RunId, RunRow> rows(List<String> problems) {
    List<RunId> asked = new ArrayList<>();
    for (RunId id : seen) {
      RunFolder run = context.workspace().run(id);
      if (settled.containsKey(id) && !run.isOpen()) {
        continue;
      }
      settled.remove(id);
      if (!run.isOpen() && Files.exists(run.manifest())) {
        try {
          settled.put(id, RunRow.ended(ManifestFile.read(run)));
        } catch (RuntimeException broken) {
          problems.add(id + ": " + broken.getMessage());
        }
      } else {
        asked.add(id);
      }
    }
    status = status.again();
    Map<RunId, RunRow> rows = new LinkedHashMap<>();
    status.rows(asked, problems).forEach(row -> rows.put(new RunId(row.runId()), row));
    rows.putAll(settled);
    return rows;
  }

  /** Returns the budgets and the reservations, which are read again at times. */
  private BudgetUsage.Use use(Map<RunId, RunRow> rows, Instant now, List<String> problems) {
    BudgetUsage.Use known = use;
    boolean old = now.isAfter(useRead.plus(BUDGETS_LAST));
    if (known == null || old || !useOf.equals(rows.keySet())) {
      try {
        known = new BudgetUsage(context).use(LocalDate.ofInstant(now, ZoneOffset.UTC), problems);
      } catch (NexaException noPolicy) {
        problems.add("the budgets are not known: " + noPolicy.getMessage());
        known = new BudgetUsage.Use(List.of(), List.of());
      }
      use = known;
      useRead = now;
      useOf = Set.copyOf(rows.keySet());
    }
    return known;
  }

  private List<LiveRun> runs(Map<RunId, RunRow> rows, BudgetUsage.Use use, Instant now) {
    Map<String, LedgerLine> lines = new HashMap<>();
    use.open().forEach(line -> lines.put(line.runId(), line));
    List<LiveRun> runs = new ArrayList<>();
    int sampled = 0;
    for (Map.Entry<RunId, RunRow> one : rows.entrySet()) {
      RunRow row = one.getValue();
      LedgerLine line = lines.get(one.getKey().value());
      List<String> budgets =
          use.budgets().stream()
              .filter(budget -> line != null && budget.covers(line))
              .map(BudgetStatus::name)
              .toList();
      boolean samples = row.tasks().running() > 0 && line != null && line.gpuType() != null;
      Optional<Integer> gpu =
          samples && sampled++ < MOST_SAMPLED
              ? gpuPercent(context.workspace().run(one.getKey()), now)
              : Optional.empty();
      runs.add(new LiveRun(one.getKey(), row, reserved(line, row), budgets, gpu));
    }
    runs.sort(Comparator.comparingInt(LiveReader::rank));
    return runs;
  }

  private static Optional<Money> reserved(@Nullable LedgerLine line, RunRow row) {
    BigDecimal most = line == null ? null : line.reservation();
    String currency = line == null ? null : line.currency();
    return most == null || currency == null || row.status().ended()
        ? Optional.empty()
        : Optional.of(new Money(most, currency).rounded());
  }

  private static int rank(LiveRun run) {
    return run.row().status().ended() ? 2 : run.row().tasks().running() > 0 ? 0 : 1;
  }

  /**
   * Returns the budgets of the runs; all budgets if there are no runs. The records have the cost of
   * an unfinished run as of the last pass, so this adds what it has cost since then.
   */
  private static List<LiveBudget> budgets(
      BudgetUsage.Use use, Map<RunId, RunRow> rows, List<LiveRun> runs) {
    Set<String> named = new LinkedHashSet<>();
    runs.forEach(run -> named.addAll(run.budgets()));
    List<LiveBudget> budgets = new ArrayList<>();
    for (BudgetStatus budget : use.budgets()) {
      if (!runs.isEmpty() && !named.contains(budget.name())) {
        continue;
      }
      Money amount = budget.budget().amount();
      BigDecimal spent = budget.spent();
      BigDecimal reserved = budget.reserved();
      for (LedgerLine line : use.open()) {
        RunRow row = rows.get(new RunId(line.runId()));
        if (row == null
            || !budget.covers(line)
            || !amount.currency().equals(row.spent().cost().currency())) {
          continue;
        }
        BigDecimal before = line.cost() == null ? BigDecimal.ZERO : line.cost();
        BigDecimal now = row.spent().now().amount();
        spent = spent.add(now.subtract(before));
        BigDecimal most = line.reservation();
        if (most != null) {
          BigDecimal left =
              row.status().ended() ? BigDecimal.ZERO : most.subtract(now).max(BigDecimal.ZERO);
          reserved = reserved.add(left).subtract(most.subtract(before).max(BigDecimal.ZERO));
        }
      }
      budgets.add(
          new LiveBudget(
              budget.name(), budget.period(), amount, spent, reserved.max(BigDecimal.ZERO)));
    }
    return budgets;
  }

  /**
   * Returns how busy the GPUs of a running run are, by the newest samples: the mean utilization in
   * percent; empty if nothing new was sampled.
   */
  private static Optional<Integer> gpuPercent(RunFolder run, Instant now) {
    List<TelemetryFile> files = TelemetryFile.of(run, RunState.of(run.journal().read()));
    double sum = 0;
    int values = 0;
    for (TelemetryFile file : files.subList(Math.max(0, files.size() - MOST_FILES), files.size())) {
      Optional<NodeTelemetry.Sample> sample = file.newest();
      if (sample.isEmpty() || sample.get().at().isBefore(now.minus(NEW))) {
        continue;
      }
      for (NodeTelemetry.Sample.Value value : sample.get().values()) {
        if (value.measure() == Measure.GPU_UTILIZATION) {
          sum += value.value();
          values++;
        }
      }
    }
    return values == 0 ? Optional.empty() : Optional.of((int) Math.round(sum / values));
  }
}
