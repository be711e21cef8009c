package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: lm_eval}: runs the LM Evaluation Harness with one copy of the model on each GPU.
 *
 * <p>{@code options.model: vllm} with {@code model_args} spreads one copy over several GPUs.
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
    PlanDecides decides = new PlanDecides(plan, problems);
    JsonObject options = decides.options("lm_eval", plan.options(), "options");
    RunnerOptions.of("lm-eval-config").check(options, "options", plan.written(), problems);
    parallel(plan, options, problems);
    if (!plan.options().members().containsKey("tasks")) {
      String message = "missing; name the harness's tasks, such as [hellaswag, arc_easy]";
      problems.add(plan.written().problem("options.tasks", message));
    }
    if (plan.allocation().nodes() > 1) {
      String message = "the harness works on one node; write nodes: 1";
      problems.add(plan.written().problem("resources.nodes", message));
    }
    RunnerFile config = NativeFile.yaml(FILE, config(plan, problems), options, plan);
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
    boolean alone = plan.tasks() == 1 && plan.shape().array().points().isEmpty();
    String output = "${durable}/evals/${run_id}" + (alone ? "" : "/task_${task}");
    command.addAll(List.of("--output_path", output));
    return new Launch(Launch.TASK, command, List.of(config));
  }

  /** Checks that vLLM's copies and splits use exactly the GPUs that the job pays for. */
  private static void parallel(Plan plan, JsonObject options, List<Problem> problems) {
    int gpus = plan.allocation().gpusPerNode();
    JsonObject args = new JsonObject();
    Object written = options.members().get("model_args");
    if (written instanceof JsonObject object) {
      args = object;
    } else if (written instanceof String text) {
      for (String one : text.split(",", -1)) {
        String[] parts = one.split("=", 2);
        args.with(parts[0].strip(), parts.length > 1 ? parts[1] : null);
      }
    }
    long tensor = PlanDecides.size(args, "tensor_parallel_size");
    long copies = PlanDecides.size(args, "data_parallel_size");
    boolean vllm = "vllm".equals(options.members().get("model"));
    if (vllm && gpus > 0 && (tensor == PlanDecides.BAD || tensor * copies != gpus)) {
      String message =
          "tensor_parallel_size x data_parallel_size is not the %s GPUs that the job asks for;"
              + " change them, or resources.gpus_per_node";
      problems.add(plan.written().problem("options.model_args", message.formatted(gpus)));
    }
  }

  private static JsonObject config(Plan plan, List<Problem> problems) {
    Training training = plan.training();
    JsonObject model =
        new JsonObject()
            .with("pretrained", Trl.required(plan, "model_name", problems))
            .with("dtype", dtype(training.precision()))
            .withOptional("max_length", training.integer("max_length"));
    JsonObject config = new JsonObject().with("model", "hf").with("model_args", model);
    if (!plan.site().accelerator().equals("cuda")) {
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
