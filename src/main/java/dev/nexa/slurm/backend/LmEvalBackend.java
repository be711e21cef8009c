package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: lm_eval}: the evaluation harness, one copy of the model on each GPU; {@code
 * options.model: vllm} with its {@code model_args} spreads one over several.
 */
public final class LmEvalBackend implements Backend {
  private static final String FILE = "lm_eval.yaml";

  @Override
  public String name() {
    return "lm_eval";
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    Trl.refuseDistilling(plan, problems);
    RunnerOptions.of("lm-eval-config").check(plan.options(), "options", plan.written(), problems);
    if (!plan.options().members().containsKey("tasks")) {
      String message = "missing; name the harness's tasks, such as [hellaswag, arc_easy]";
      problems.add(plan.written().problem("options.tasks", message));
    }
    if (plan.allocation().nodes() > 1) {
      String message = "the harness works on one node; write nodes: 1";
      problems.add(plan.written().problem("resources.nodes", message));
    }
    RunnerFile config = NativeFile.yaml(FILE, config(plan, problems), plan.options(), plan);
    Problem.throwIfAny(problems);
    int gpus = plan.allocation().gpusPerNode();
    boolean copies = gpus > 1 && !"vllm".equals(plan.options().members().get("model"));
    List<String> command = new ArrayList<>();
    if (copies) {
      command.addAll(List.of("accelerate", "launch", "--multi_gpu", "--num_machines", "1"));
      command.addAll(List.of("--num_processes", "" + gpus, "-m", "lm_eval"));
    } else {
      command.add("lm-eval");
    }
    command.addAll(List.of("run", "--config", "${run_dir}/runner/" + FILE));
    command.addAll(
        List.of(
            "--output_path",
            "${durable}/evals/${run_id}" + (plan.points().isEmpty() ? "" : "/task_${task}")));
    return new Launch(Launch.TASK, command, List.of(config));
  }

  private static JsonObject config(Plan plan, List<Problem> problems) {
    Training training = plan.training();
    JsonObject model =
        new JsonObject()
            .with("pretrained", Trl.required(plan, "model_name", problems))
            .with("dtype", dtype(training.precision()))
            .withOptional("max_length", training.integer("max_length"));
    JsonObject config = new JsonObject().with("model", "hf").with("model_args", model);
    if (!plan.accelerator().equals("cuda")) {
      config.with("device", "cpu");
    }
    return config
        .withOptional("batch_size", training.integer("batch_size"))
        .withOptional("seed", training.integer("seed"))
        .with("log_samples", true);
  }

  private static String dtype(String precision) {
    return switch (precision) {
      case "bf16" -> "bfloat16";
      case "fp16" -> "float16";
      default -> "auto";
    };
  }
}
