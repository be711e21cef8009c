package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code stage: serve}: runs one {@code vllm serve} over all nodes, without Ray (vLLM's
 * docs/serving/parallelism_scaling.md).
 */
final class VllmServe {

  private VllmServe() {}

  static Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    Vllm vllm = new Vllm(plan, "vllm-serve", problems);
    String model = Trl.required(plan, "model_name", problems);
    int nodes = plan.allocation().nodes();
    if (plan.tasks() > 1) {
      String message = "a server is one task; for more of them, submit it more often";
      problems.add(plan.written().problem("array", message));
    }
    refuseKeyAndTls(plan, vllm, problems);
    if (nodes > 1 && vllm.has("data_parallel_size")) {
      vllm.refuse(
          "data_parallel_size", "needs nodes: 1; several nodes share one copy of the model");
    }
    vllm.add("vllm", "serve", model, "--port", "${port}");
    if (!vllm.has("host")) {
      vllm.add("--host", "0.0.0.0");
    }
    vllm.parallel();
    if (nodes > 1) {
      vllm.add("--nnodes", "" + nodes, "--node-rank", "${node_rank}");
      vllm.add("--master-addr", "${master_addr}", "--master-port", "${master_port}");
    }
    vllm.engine();
    Problem.throwIfAny(problems);
    return Launch.server(vllm.command(), served(vllm, model));
  }

  /** Refuses options that the job script sets, or that keep it from asking the server. */
  static void refuseKeyAndTls(Plan plan, Vllm vllm, List<Problem> problems) {
    for (String option : List.of("port", "model")) {
      if (vllm.has(option)) {
        vllm.refuse(option, "the job script sets it; leave it out");
      }
    }
    if (vllm.has("api_key") || plan.environment().env().containsKey("VLLM_API_KEY")) {
      String message = "others could read it there; each server gets a key of its own, in a file";
      String key = vllm.has("api_key") ? "options.api_key" : "env.VLLM_API_KEY";
      problems.add(plan.written().problem(key, message));
    }
    for (String option : List.of("ssl_keyfile", "ssl_certfile", "uds")) {
      if (vllm.has(option)) {
        vllm.refuse(option, "`serve` asks over plain HTTP and a port; put a proxy before it");
      }
    }
  }

  /**
   * Returns the model's name in requests: the first {@code served_model_name}, else {@code
   * model_name}.
   */
  static String served(Vllm vllm, String model) {
    @Nullable Object name = vllm.value("served_model_name");
    if (name instanceof List<?> names) {
      name = names.isEmpty() ? null : names.get(0);
    }
    return name == null ? model : Vllm.word(name);
  }
}
