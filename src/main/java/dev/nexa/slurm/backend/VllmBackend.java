package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: vllm}: with {@code stage: serve} a server, {@code vllm serve}; else batch
 * generation with {@code vllm run-batch}, one shard for each task.
 */
public final class VllmBackend implements Backend {

  @Override
  public String name() {
    return "vllm";
  }

  @Override
  public Launch launch(Plan plan) {
    return plan.stage().equals("serve") ? VllmServe.launch(plan) : batch(plan);
  }

  private static Launch batch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    Vllm vllm = new Vllm(plan, "vllm-run-batch", problems);
    for (String key : List.of("input_file", "output_file")) {
      if (!vllm.has(key)) {
        vllm.refuse(
            key, "missing; vllm run-batch needs it, such as ${durable}/prompts/${task}.jsonl");
      }
    }
    if (plan.allocation().nodes() > 1) {
      String message = "run-batch works on one node; write nodes: 1 and array: {shards: N}";
      problems.add(plan.written().problem("resources.nodes", message));
    }
    vllm.add("vllm", "run-batch", "--model", Trl.required(plan, "model_name", problems));
    vllm.parallel();
    vllm.engine();
    Problem.throwIfAny(problems);
    return new Launch(Launch.TASK, vllm.command(), List.of());
  }
}
