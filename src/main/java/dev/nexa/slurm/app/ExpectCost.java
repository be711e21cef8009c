package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ModelSize;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.costs.NewestRuns;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.estimate.DataSize;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Expected;
import dev.nexa.slurm.estimate.Outlook;
import dev.nexa.slurm.estimate.PastRun;
import dev.nexa.slurm.estimate.Traits;
import dev.nexa.slurm.estimate.analytic.AnalyticEstimate;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.Money;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a plan will probably cost: as its config says, by past runs, or by arithmetic. */
final class ExpectCost {
  private ExpectCost() {}

  static Outlook of(Nexa nexa, Plan plan, Estimate estimate, Optional<ModelNumbers> model) {
    DataSize data = data(plan);
    Optional<Expected> stated = stated(plan, estimate);
    List<RunLine> lines = new NewestRuns(nexa.workspace()).ofStage(plan.stage(), Instant.now());
    Outlook outlook =
        lines.isEmpty()
            ? Outlook.first(data, stated)
            : Outlook.of(
                plan, estimate, data, past(nexa, plan, lines, estimate.rates().currency()), stated);
    return outlook.expected().isPresent() || model.isEmpty()
        ? outlook
        : outlook.otherwise(analytic(plan, estimate, model.get()));
  }

  /** What its FLOPs say. */
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

  /** What the config says itself. */
  private static Optional<Expected> stated(Plan plan, Estimate estimate) {
    if (plan.workload().isEmpty()
        || plan.workload().get().expectedGpuHours().isEmpty()
        || plan.billed().gpus() == 0) {
      return Optional.empty();
    }
    double hours = plan.workload().get().expectedGpuHours().get().doubleValue();
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
   * Those of its model and backend that completed or ran into their limit: one that failed early
   * tells nothing of cost.
   */
  private static List<PastRun> past(Nexa nexa, Plan plan, List<RunLine> lines, String currency) {
    Traits wanted = Traits.of(plan);
    List<PastRun> past = new ArrayList<>();
    for (RunLine line : lines) {
      boolean meant =
          wanted.model().equals(Optional.ofNullable(line.model()))
              && wanted.backend().equals(Optional.ofNullable(line.backend()))
              && (line.completed() || "timeout".equals(line.state()));
      if (!meant) {
        continue;
      }
      Long tasks = line.tasks();
      Long gpuSeconds = line.gpuSeconds();
      Long cpuSeconds = line.cpuSeconds();
      BigDecimal cost = line.computeCost();
      if (cost != null
          && tasks != null
          && gpuSeconds != null
          && cpuSeconds != null
          && currency.equals(line.currency())
          && isOfThatSize(nexa, plan.training(), line)) {
        past.add(past(line, tasks, gpuSeconds, cpuSeconds, new Money(cost, currency)));
      }
    }
    return past;
  }

  /**
   * Whether a run's model is as large as the {@code model_size} of this one, where that is given:
   * one name may stand for more than one model. The ledger does not tell sizes, so the run's own
   * plan is asked; of a run that is no longer there, its model's name.
   */
  private static boolean isOfThatSize(Nexa nexa, Training wanted, RunLine line) {
    if (wanted.text("model_size").isEmpty()) {
      return true;
    }
    Optional<RunId> id = RunId.parse(line.runId());
    boolean kept = id.isPresent() && Files.isRegularFile(nexa.workspace().run(id.get()).plan());
    Optional<String> written =
        kept
            ? nexa.workspace()
                .run(id.get())
                .planJson()
                .optionalObject("training")
                .flatMap(training -> training.optionalText("model_size"))
            : Optional.empty();
    Optional<Long> size = ModelSize.of(written, Optional.ofNullable(line.model()).orElse(""));
    return size.isPresent() ? size.equals(wanted.parameters()) : !kept;
  }

  private static PastRun past(
      RunLine line, long tasks, long gpuSeconds, long cpuSeconds, Money cost) {
    Traits traits =
        new Traits(
            String.valueOf(line.stage()),
            Optional.ofNullable(line.backend()),
            Optional.ofNullable(line.model()),
            Optional.ofNullable(line.gpuType()),
            Optional.ofNullable(line.tagged("experiment")),
            Optional.ofNullable(line.dataset()),
            Optional.ofNullable(line.cluster()));
    return new PastRun(
        line.runId(),
        traits,
        Math.toIntExact(tasks),
        gpuSeconds,
        cpuSeconds,
        width(gpuSeconds > 0 ? line.gpus() : line.cpus()),
        Optional.ofNullable(line.longestSeconds()),
        new DataSize(Optional.ofNullable(line.dataTokens()), Optional.ofNullable(line.dataBytes())),
        cost,
        Optional.ofNullable(line.reservation()),
        Optional.ofNullable(line.expected()));
  }

  private static Optional<Integer> width(@Nullable Long width) {
    return width == null || width < 1 ? Optional.empty() : Optional.of(Math.toIntExact(width));
  }

  /** Of one task: a sweep's go through all of the data each, an array's share it. */
  private static DataSize data(Plan plan) {
    BigDecimal times = plan.training().decimal("epochs").orElse(BigDecimal.ONE);
    int among = plan.points().isEmpty() ? plan.tasks() : 1;
    Optional<Long> tokens =
        plan.workload().isPresent() ? plan.workload().get().tokens() : Optional.empty();
    return new DataSize(each(tokens, times, among), each(bytes(plan), times, among));
  }

  private static Optional<Long> each(Optional<Long> pass, BigDecimal times, int among) {
    return pass.isEmpty()
        ? pass
        : Optional.of(times.multiply(BigDecimal.valueOf(pass.get())).longValue() / among);
  }

  /** Of the data file that the config names, where this host sees it. */
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
