package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.run.Workload;
import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.estimate.DataSize;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.Expected;
import dev.nexa.slurm.job.estimate.Outlook;
import dev.nexa.slurm.job.estimate.PastRun;
import dev.nexa.slurm.job.estimate.RunSimilarity;
import dev.nexa.slurm.job.estimate.model.AnalyticEstimate;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.NewestRuns;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Computes the expected cost of a plan: from its config, from past runs, or from its FLOPs. */
final class ExpectCost {
  private ExpectCost() {}

  static Outlook of(Context context, Plan plan, Estimate estimate, Optional<ModelNumbers> model) {
    DataSize data = data(plan);
    if (!plan.shape().groups().isEmpty()) {
      return Outlook.unknown(data, "past runs are compared by one task, and this job has groups");
    }
    Optional<Expected> stated = stated(plan, estimate);
    List<LedgerLine> lines =
        new NewestRuns(context.workspace()).ofStage(plan.stage(), Instant.now());
    Outlook outlook =
        lines.isEmpty()
            ? Outlook.first(data, stated)
            : Outlook.of(
                plan,
                estimate,
                data,
                past(context, plan, lines, estimate.rates().currency()),
                stated);
    return outlook.expected().isPresent() || model.isEmpty()
        ? outlook
        : outlook.otherwise(analytic(plan, estimate, model.get()));
  }

  /**
   * Returns the expected cost from the model's FLOPs; empty if they are unknown or no GPU is
   * billed.
   */
  static Optional<Expected> analytic(Plan plan, Estimate estimate, ModelNumbers numbers) {
    if (numbers.analytic().isEmpty() || plan.billed().gpus() == 0) {
      return Optional.empty();
    }
    AnalyticEstimate hours = numbers.analytic().get();
    return Optional.of(
        Expected.ofGpuHours(
            Expected.Method.ANALYTIC,
            plan,
            estimate,
            hours.lowGpuHours(),
            hours.middleGpuHours(),
            hours.highGpuHours(),
            hours.sentence()));
  }

  /** Returns the expected cost that the config states; empty if it states none. */
  private static Optional<Expected> stated(Plan plan, Estimate estimate) {
    if (plan.inputs().workload().isEmpty()
        || plan.inputs().workload().get().expectedGpuHours().isEmpty()
        || plan.billed().gpus() == 0) {
      return Optional.empty();
    }
    double hours = plan.inputs().workload().get().expectedGpuHours().get().doubleValue();
    return Optional.of(
        Expected.ofGpuHours(
            Expected.Method.CONFIG,
            plan,
            estimate,
            hours,
            hours,
            hours,
            "estimate.expected_gpu_hours of the config"));
  }

  /**
   * Selects the past runs with the plan's model and backend that completed or timed out. A run that
   * failed early does not show what such a run costs.
   */
  private static List<PastRun> past(
      Context context, Plan plan, List<LedgerLine> lines, String currency) {
    RunSimilarity wanted = RunSimilarity.of(plan);
    List<PastRun> past = new ArrayList<>();
    for (LedgerLine line : lines) {
      boolean meant =
          wanted.model().equals(Optional.ofNullable(line.model()))
              && wanted.backend().equals(Optional.ofNullable(line.text(LedgerKey.BACKEND)))
              && (line.completed() || "timeout".equals(line.state()));
      if (!meant) {
        continue;
      }
      Long tasks = line.whole(LedgerKey.TASKS);
      Long gpuSeconds = line.gpuSeconds();
      Long cpuSeconds = line.whole(LedgerKey.CPU_SECONDS);
      BigDecimal cost = line.computeCost();
      if (cost != null
          && tasks != null
          && gpuSeconds != null
          && cpuSeconds != null
          && currency.equals(line.currency())
          && isOfThatSize(context, plan.training(), line)) {
        past.add(past(line, tasks, gpuSeconds, cpuSeconds, new Money(cost, currency)));
      }
    }
    return past;
  }

  /**
   * Returns whether a past run's model has the size that the plan's {@code model_size} gives; true
   * if the plan gives none.
   *
   * <p>One model name may stand for models of several sizes. The ledger holds no sizes, so the size
   * comes from the past run's plan. If the run's folder is gone, the size comes from the model's
   * name.
   */
  private static boolean isOfThatSize(Context context, Training wanted, LedgerLine line) {
    if (wanted.text("model_size").isEmpty()) {
      return true;
    }
    Optional<RunId> id = RunId.parse(line.runId());
    boolean kept = id.isPresent() && Files.isRegularFile(context.workspace().run(id.get()).plan());
    Optional<String> written =
        kept ? context.workspace().run(id.get()).shownPlan().modelSize() : Optional.empty();
    Optional<Long> size = ModelSize.of(written, Optional.ofNullable(line.model()).orElse(""));
    return size.isPresent() ? size.equals(wanted.parameters()) : !kept;
  }

  private static PastRun past(
      LedgerLine line, long tasks, long gpuSeconds, long cpuSeconds, Money cost) {
    RunSimilarity traits =
        new RunSimilarity(
            String.valueOf(line.stage()),
            Optional.ofNullable(line.text(LedgerKey.BACKEND)),
            Optional.ofNullable(line.model()),
            Optional.ofNullable(line.gpuType()),
            Optional.ofNullable(line.tagged("experiment")),
            Optional.ofNullable(line.text(LedgerKey.DATASET)),
            Optional.ofNullable(line.cluster()));
    return new PastRun(
        line.runId(),
        traits,
        Math.toIntExact(tasks),
        gpuSeconds,
        cpuSeconds,
        width(gpuSeconds > 0 ? line.whole(LedgerKey.GPUS) : line.whole(LedgerKey.CPUS)),
        Optional.ofNullable(line.whole(LedgerKey.LONGEST_SECONDS)),
        new DataSize(
            Optional.ofNullable(line.whole(LedgerKey.DATA_TOKENS)),
            Optional.ofNullable(line.whole(LedgerKey.DATA_BYTES))),
        cost,
        Optional.ofNullable(line.reservation()),
        Optional.ofNullable(line.decimal(LedgerKey.EXPECTED)));
  }

  private static Optional<Integer> width(@Nullable Long width) {
    return width == null || width < 1 ? Optional.empty() : Optional.of(Math.toIntExact(width));
  }

  /**
   * Returns the data of one task: each task of a sweep reads all data, the tasks of an array share
   * it.
   */
  private static DataSize data(Plan plan) {
    BigDecimal times = plan.training().decimal("epochs").orElse(BigDecimal.ONE);
    int among = plan.shape().array().points().isEmpty() ? plan.tasks() : 1;
    Optional<Workload> told = plan.inputs().workload();
    Optional<Long> tokens = told.isPresent() ? told.get().tokens() : Optional.empty();
    return new DataSize(each(tokens, times, among), each(bytes(plan), times, among));
  }

  private static Optional<Long> each(Optional<Long> pass, BigDecimal times, int among) {
    return pass.isEmpty()
        ? pass
        : Optional.of(times.multiply(BigDecimal.valueOf(pass.get())).longValue() / among);
  }

  /** Returns the size of the data file that the config names; empty if this host cannot see it. */
  private static Optional<Long> bytes(Plan plan) {
    Optional<String> path = plan.training().text("dataset_path");
    if (path.isEmpty()) {
      return Optional.empty();
    }
    Path file = Path.of(plan.atTiers(path.get()));
    try {
      return file.isAbsolute() && Files.isRegularFile(file)
          ? Optional.of(Files.size(file))
          : Optional.empty();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }
}
