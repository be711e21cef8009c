package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: hf}: runs TRL's trainer under torchrun, with a whole copy of the model on each
 * rank.
 */
public final class HfBackend implements Backend {

  @Override
  public String name() {
    return "hf";
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    ScalingMatrix.check(plan, name(), problems);
    if (!plan.training().strategy().equals("ddp")) {
      String key = plan.training().has("strategy") ? "strategy" : "fsdp";
      String message = "hf keeps the whole model on each rank; write backend: accelerate";
      problems.add(plan.written().problem(key, message));
    }
    List<String> notes = new ArrayList<>();
    RunnerFile config = Trl.config(plan, plan.options(), true, problems, notes);
    Problem.throwIfAny(problems);
    return Torchrun.launch(plan, List.of(), Trl.program(plan), List.of(config, Trl.resume()))
        .noting(notes);
  }
}
