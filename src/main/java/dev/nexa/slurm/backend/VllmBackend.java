package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.Problem;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code backend: vllm}: batch generation with {@code vllm run-batch}, one shard for each task. Its
 * options are flags of the command, so that {@code ${task}} and the tiers may stand in them.
 */
public final class VllmBackend implements Backend {

  @Override
  public String name() {
    return "vllm";
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    RunnerOptions flags = RunnerOptions.of("vllm-run-batch");
    flags.check(plan.options(), "options", plan.written(), problems);
    for (String key : List.of("input_file", "output_file")) {
      if (!plan.options().members().containsKey(key)) {
        String message =
            "missing; vllm run-batch needs it, such as ${durable}/prompts/${task}.jsonl";
        problems.add(plan.written().problem("options." + key, message));
      }
    }
    if (plan.allocation().nodes() > 1) {
      String message = "run-batch works on one node; write nodes: 1 and array: {shards: N}";
      problems.add(plan.written().problem("resources.nodes", message));
    }
    List<String> command = new ArrayList<>(List.of("vllm", "run-batch"));
    command.addAll(List.of("--model", Trl.required(plan, "model_name", problems)));
    parallel(plan, command, problems);
    plan.training().integer("max_length").ifPresent(n -> add(command, "--max-model-len", n));
    plan.training().integer("seed").ifPresent(n -> add(command, "--seed", n));
    for (Map.Entry<String, @Nullable Object> option : plan.options().members().entrySet()) {
      flag(command, flags.flag(option.getKey()), option.getValue());
    }
    Problem.throwIfAny(problems);
    return new Launch(Launch.TASK, command, List.of());
  }

  /** All GPUs of the node hold one model, unless the options split them otherwise. */
  private static void parallel(Plan plan, List<String> command, List<Problem> problems) {
    int gpus = plan.allocation().gpusPerNode();
    if (!plan.options().members().containsKey("tensor_parallel_size")) {
      if (gpus > 1) {
        add(command, "--tensor-parallel-size", gpus);
      }
      return;
    }
    long parallel = plan.options().number("tensor_parallel_size");
    if (parallel < 1 || gpus % parallel != 0) {
      String message = parallel + " does not divide the " + gpus + " GPUs of a node";
      problems.add(plan.written().problem("options.tensor_parallel_size", message));
    }
  }

  private static void add(List<String> command, String flag, long value) {
    command.add(flag);
    command.add(Long.toString(value));
  }

  private static void flag(List<String> command, String flag, @Nullable Object value) {
    if (Boolean.FALSE.equals(value)) {
      command.add("--no-" + flag.substring(2));
      return;
    }
    command.add(flag);
    if (value instanceof List<?> list) {
      list.forEach(element -> command.add(word(element)));
    } else if (!Boolean.TRUE.equals(value)) {
      command.add(word(value));
    }
  }

  private static String word(@Nullable Object value) {
    return value instanceof JsonObject ? value.toString() : plain(value);
  }

  private static String plain(@Nullable Object value) {
    return value instanceof java.math.BigDecimal number ? number.toPlainString() : "" + value;
  }
}
