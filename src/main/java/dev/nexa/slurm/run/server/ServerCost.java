package dev.nexa.slurm.run.server;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The cost of a running server, from the resources that a task is charged for and the rates of the
 * run's estimate.
 */
public record ServerCost(PlanFile plan, Rates rates) {

  /**
   * Returns the cost of the server in a run's folder.
   *
   * @param problems receives a line if the plan or the estimate differs from the submitted file;
   *     the cost is then unknown
   * @return empty if the folder is gone or belongs to another user, or if its files are broken
   */
  public static Optional<ServerCost> of(Path runDir, List<String> problems) {
    Optional<RunFolder> run =
        RunFolder.at(runDir)
            .filter(it -> Files.isReadable(it.plan()) && Files.isReadable(it.estimate()));
    if (run.isEmpty()) {
      return Optional.empty();
    }
    try {
      ProvenFiles files = ProvenFiles.of(run.get());
      return Optional.of(new ServerCost(files.plan(), files.estimate().rates()));
    } catch (NexaException | UncheckedIOException | IllegalArgumentException broken) {
      problems.add(run.get().id() + ": " + broken.getMessage());
      return Optional.empty();
    }
  }

  /** Returns the cost of running for an hour. */
  public Money perHour() {
    return during(Duration.ofHours(1));
  }

  /** Returns the cost of running for this time. */
  public Money during(Duration time) {
    Usage usage =
        rates.usage(
            plan.gpusByType(),
            plan.cpus(),
            plan.memoryBytes(),
            plan.nodes(),
            Math.max(0, time.toSeconds()));
    return rates.total(rates.price(usage));
  }
}
