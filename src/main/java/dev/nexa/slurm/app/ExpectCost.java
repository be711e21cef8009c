package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.NewestRuns;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.estimate.DataSize;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Expected;
import dev.nexa.slurm.estimate.Outlook;
import dev.nexa.slurm.estimate.PastRun;
import dev.nexa.slurm.estimate.Traits;
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

  static Outlook of(Nexa nexa, Plan plan, Estimate estimate) {
    DataSize data = data(plan);
    Optional<Expected> stated = Optional.empty();
    Optional<Expected> analytic = Optional.empty();
    List<RunLine> lines = new NewestRuns(nexa.workspace()).ofStage(plan.stage(), Instant.now());
    if (lines.isEmpty()) {
      return Outlook.first(data, stated, analytic);
    }
    return Outlook.of(
        plan, estimate, data, past(lines, estimate.rates().currency()), stated, analytic);
  }

  /** Those that completed or ran into their limit: one that failed early tells nothing of cost. */
  static List<PastRun> past(List<RunLine> lines, String currency) {
    List<PastRun> past = new ArrayList<>();
    for (RunLine line : lines) {
      boolean meant = line.completed() || "timeout".equals(line.state());
      Long tasks = line.tasks();
      Long gpuSeconds = line.gpuSeconds();
      Long cpuSeconds = line.cpuSeconds();
      BigDecimal cost = line.computeCost();
      if (meant
          && cost != null
          && tasks != null
          && gpuSeconds != null
          && cpuSeconds != null
          && currency.equals(line.currency())) {
        past.add(past(line, tasks, gpuSeconds, cpuSeconds, new Money(cost, currency)));
      }
    }
    return past;
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

  /** The size of the data file that the config names, where this host sees it, by the epochs. */
  private static DataSize data(Plan plan) {
    Optional<String> path = plan.training().text("dataset_path");
    if (path.isEmpty()) {
      return DataSize.UNKNOWN;
    }
    Path file = Path.of(plan.atTiers(path.get()));
    try {
      if (!file.isAbsolute() || !Files.isRegularFile(file)) {
        return DataSize.UNKNOWN;
      }
      BigDecimal epochs = plan.training().decimal("epochs").orElse(BigDecimal.ONE);
      long bytes = epochs.multiply(BigDecimal.valueOf(Files.size(file))).longValue();
      return new DataSize(Optional.empty(), Optional.of(bytes));
    } catch (IOException unreadable) {
      return DataSize.UNKNOWN;
    }
  }
}
