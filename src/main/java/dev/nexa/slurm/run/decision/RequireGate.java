package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Enforces the policy's {@code gate_before}: such a stage starts only after a gate has passed. */
public record RequireGate(Context context, Policy policy) {
  /** The step of a data stage that is a gate. */
  public static final String STEP = "gate";

  /**
   * The dependencies that are met only if the earlier run completes. A failed gate is no such run.
   */
  public static final Set<String> TYPES = Set.of("afterok", "aftercorr");

  /**
   * Checks a single run.
   *
   * @param after what the run waits for
   * @throws NexaException if the policy names the run's stage, and no gate is among the runs that
   *     must complete first
   */
  public void of(PlanFile plan, List<Earlier> after) {
    boolean needed = policy.evaluation().gateBefore().contains(plan.stage());
    if (needed && !isAfterGate(after, new HashSet<>())) {
      throw refusal(
          policy,
          plan.config(),
          plan.stage(),
          Advice.step(
              after.isEmpty()
                  ? "run a gate first, and add: --dependency afterok:RUN, with the gate's run"
                  : "no run that it waits for is a run of data.gate; name the gate's run with afterok"));
    }
  }

  /** Returns whether a gate is among the runs, or among the runs that they wait for in turn. */
  private boolean isAfterGate(List<Earlier> after, Set<RunId> seen) {
    for (Earlier earlier : after) {
      Optional<RunId> id = TYPES.contains(earlier.type()) ? earlier.run() : Optional.empty();
      if (id.isPresent() && seen.add(id.get())) {
        RunFolder run = context.workspace().run(id.get());
        if (ProvenFiles.of(run).plan().dataStep().equals(Optional.of(STEP))
            || isAfterGate(RunState.of(run.journal().read()).after(), seen)) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Returns the error for a stage without a gate.
   *
   * @param place the config, or the pipeline and its stage
   */
  public static NexaException refusal(Policy policy, String place, String stage, Advice advice) {
    return ErrorCode.GATE_NEEDED.error(
        ("%s: a run of stage %s may start only after a gate has passed; %s asks for that"
                + " (gate_before)")
            .formatted(place, stage, policy.name()),
        advice);
  }
}
