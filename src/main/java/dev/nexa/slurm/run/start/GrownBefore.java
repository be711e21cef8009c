package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.run.Growth;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.NewestRuns;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Begins a run whose attempts may grow with the size that its like needed last: the newest
 * completed run of the same config file, name and stage.
 */
record GrownBefore(Context context) {
  /**
   * Returns the config with the memory and the time limit that the newest run of its like completed
   * with, and a note, if those are more than the config's; else the config unchanged.
   *
   * @param config a config whose attempts grow
   */
  RunConfig begin(RunConfig config) {
    Instant now = Instant.now();
    for (LedgerLine line : new NewestRuns(context.workspace()).ofStage(config.stage(), now)) {
      Optional<RunId> id = line.completed() ? RunId.parse(line.runId()) : Optional.empty();
      if (id.isPresent()) {
        RunFolder run = context.workspace().run(id.get());
        try {
          PlanFile plan = ProvenFiles.of(run).plan();
          if (plan.config().equals(config.written().file())
              && plan.title().equals(config.title())) {
            return begin(config, run, plan);
          }
        } catch (NexaException | UncheckedIOException | IllegalArgumentException goneOrChanged) {
          // A like run is looked for among the others; audit reports a changed file.
        }
      }
    }
    return config;
  }

  private static RunConfig begin(RunConfig config, RunFolder run, PlanFile plan) {
    long memory = 0;
    long seconds = 0;
    for (CostFile.Attempt attempt : CostFile.read(run).attempts()) {
      if (attempt.state().equals("COMPLETED")) {
        boolean grew = attempt.held().memoryBytes() > plan.memoryBytes();
        long own = attempt.held().memoryBytes() / plan.nodes();
        memory = Math.max(memory, grew ? own : plan.askedMemoryBytes());
        seconds = Math.max(seconds, limit(attempt.elapsedSeconds(), plan));
      }
    }
    Resources asked = config.resources();
    Growth growth = config.supervision().growth().orElseThrow();
    boolean more = growth.memory().isPresent() && memory > asked.memoryBytes().orElse(memory);
    boolean longer = growth.seconds().isPresent() && seconds > asked.time().toSeconds();
    if (!more && !longer) {
      return config;
    }
    List<String> begins = new ArrayList<>();
    if (more) {
      begins.add("resources.memory: " + Memory.plain(memory));
    }
    Duration time = longer ? Duration.ofSeconds(seconds) : asked.time();
    if (longer) {
      begins.add("resources.time: " + TimeLimit.words(time));
    }
    return config.beginning(
        asked.having(more ? Optional.of(memory) : asked.memoryBytes(), time),
        growth.from(more ? memory : 0, longer ? seconds : 0),
        "grow: it begins with %s, because %s completed with that"
            .formatted(String.join(", ", begins), run.id()));
  }

  /** Returns the time limit of an attempt that took so long: the first, or one that grew. */
  private static long limit(long elapsed, PlanFile plan) {
    long limit = plan.timeLimit().toSeconds();
    for (AttemptSize size : plan.grown()) {
      if (elapsed > limit) {
        limit = Math.max(limit, size.timeLimitSeconds());
      }
    }
    return limit;
  }
}
