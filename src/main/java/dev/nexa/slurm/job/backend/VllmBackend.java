package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: vllm}: runs {@code vllm serve} if the stage is {@code serve}, our own program
 * beside {@code vllm serve} with {@code data.generate}, else {@code vllm run-batch} with one shard
 * for each task.
 */
public final class VllmBackend implements Backend {
  private static final String KEPT_LATE =
      "vllm run-batch writes its answers at the end, so a requeue loses the task's answers; data.generate"
          + " keeps each answer as it arrives (`nexa-slurm explain docs/generate.md`)";

  @Override
  public String name() {
    return "vllm";
  }

  @Override
  public Launch launch(Plan plan) {
    if (plan.stage().equals("serve")) {
      return VllmServe.launch(plan);
    }
    return plan.payload().data().isPresent() ? VllmGenerate.launch(plan) : batch(plan);
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
    if (vllm.has("model")) {
      vllm.refuse("model", "model_name says it; leave it out");
    }
    if (plan.tasks() > 1
        && vllm.value("output_file") instanceof String file
        && isShared(plan, file)) {
      String message = "all tasks would write this one file; write ${task} into its name";
      vllm.refuse("output_file", message);
    }
    if (plan.allocation().nodes() > 1) {
      String message = "run-batch works on one node; write nodes: 1 and array: {shards: N}";
      problems.add(plan.written().problem("resources.nodes", message));
    }
    vllm.add("vllm", "run-batch", "--model", Trl.required(plan, "model_name", problems));
    vllm.parallel();
    vllm.engine();
    Problem.throwIfAny(problems);
    return new Launch(Launch.TASK, vllm.command(), List.of()).noting(List.of(KEPT_LATE));
  }

  /**
   * Returns whether the file is the same for all tasks. A relative path is in the task's scratch.
   */
  private static boolean isShared(Plan plan, String file) {
    boolean varies =
        plan.shape().array().points().stream()
            .anyMatch(point -> point.members().containsKey("options.output_file"));
    boolean absolute = file.startsWith("/") || file.startsWith("${");
    return absolute && !varies && !file.matches(".*\\$\\{(task|point|task_scratch)}.*");
  }
}
