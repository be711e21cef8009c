package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The flags that {@code vllm serve} and {@code vllm run-batch} share. A plan's options become
 * flags, so they may contain {@code ${task}} and the storage tiers.
 */
final class Vllm {
  private static final String TENSOR = "tensor_parallel_size";
  private static final String PIPELINE = "pipeline_parallel_size";
  private static final String DATA = "data_parallel_size";
  private static final String CONTEXT = "prefill_context_parallel_size";

  private final Plan plan;
  private final JsonObject options;
  private final RunnerOptions flags;
  private final List<Problem> problems;
  private final List<String> command = new ArrayList<>();

  Vllm(Plan plan, String list, List<Problem> problems) {
    this.plan = plan;
    this.flags = RunnerOptions.of(list);
    this.problems = problems;
    this.options = new PlanDecides(plan, problems).options("vllm", plan.options(), "options");
    flags.check(options, "options", plan.written(), problems);
    for (String option : options.members().keySet()) {
      String underscores = option.replace('-', '_');
      if (option.startsWith("-")) {
        refuse(option, "is a short name; write the long one, such as tensor_parallel_size");
      } else if (!option.equals(underscores) && options.members().containsKey(underscores)) {
        refuse(option, "is written twice, also as " + underscores + "; leave one of them out");
      }
    }
    Trl.refuseDistilling(plan, problems);
  }

  List<String> command() {
    return command;
  }

  Vllm add(String... words) {
    command.addAll(List.of(words));
    return this;
  }

  /** Returns whether the option is set, written with dashes or underscores. */
  boolean has(String option) {
    return options.members().containsKey(spelling(option));
  }

  /** Returns the option's value, written with dashes or underscores; null if it has none. */
  @Nullable Object value(String option) {
    return options.members().get(spelling(option));
  }

  private String spelling(String option) {
    return options.members().containsKey(option) ? option : option.replace('_', '-');
  }

  /** Adds the flags for the plan's keys and options. */
  void engine() {
    shared("max_length", "max_model_len", "--max-model-len");
    shared("seed", "seed", "--seed");
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      if (option.getValue() == null) {
        refuse(option.getKey(), "has no value; give it one, or leave the key out");
        continue;
      }
      flag(flags.flag(option.getKey()), option.getValue());
    }
    if (!plan.inputs().serving().loraAdapters().isEmpty()) {
      add("--enable-lora", "--lora-modules");
      plan.inputs().serving().loraAdapters().forEach((name, path) -> add(name + "=" + path));
    }
  }

  /** Adds the flag of a shared key, unless the runner's own option says it. */
  private void shared(String key, String option, String flag) {
    if (!has(option)) {
      plan.training().integer(key).ifPresent(n -> add(flag, "" + n));
    }
  }

  /**
   * Adds the flags that spread the model. By default, each node holds one pipeline stage and splits
   * it over its GPUs.
   *
   * <p>Adds a problem if the sizes do not use exactly the GPUs that the job pays for.
   */
  void parallel() {
    int gpus = plan.allocation().gpusPerNode();
    int nodes = plan.allocation().nodes();
    long all = (long) gpus * nodes;
    long pipeline = size(PIPELINE, nodes);
    long copies = size(DATA, 1) * size(CONTEXT, 1);
    long others = Math.max(1, pipeline * copies);
    long tensor = size(TENSOR, gpus == 0 ? 1 : all % others == 0 ? all / others : gpus);
    if (gpus > 0 && (tensor < 1 || gpus % tensor != 0)) {
      refuse(TENSOR, tensor + " does not divide the " + gpus + " GPUs of a node");
    } else if (gpus > 0 && tensor * pipeline * copies != all) {
      String sizes = "tensor " + tensor + " x pipeline " + pipeline;
      sizes += copies == 1 ? "" : " x data and context " + copies;
      String key = has(TENSOR) ? TENSOR : has(PIPELINE) ? PIPELINE : DATA;
      refuse(key, sizes + " is not the " + all + " GPUs that the job asks for");
    }
    if (tensor > 1 && !has(TENSOR)) {
      add("--tensor-parallel-size", "" + tensor);
    }
    if (pipeline > 1 && !has(PIPELINE)) {
      add("--pipeline-parallel-size", "" + pipeline);
    }
  }

  void refuse(String option, String why) {
    problems.add(plan.written().problem("options." + option, why));
  }

  private long size(String option, long otherwise) {
    if (value(option) == null) {
      return otherwise;
    }
    long size = PlanDecides.size(options, spelling(option));
    if (size == PlanDecides.BAD) {
      refuse(option, "is not a number of GPUs; expected a whole number such as 2");
    }
    return size == PlanDecides.BAD ? otherwise : size;
  }

  private void flag(String flag, @Nullable Object value) {
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

  /** Returns a value as a word of the command. */
  static String word(@Nullable Object value) {
    return value instanceof BigDecimal number ? number.toPlainString() : "" + value;
  }
}
