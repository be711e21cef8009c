package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Serving;
import dev.nexa.slurm.job.config.steps.DataStage;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code data.generate} with {@code backend: vllm}: each task starts one {@code vllm serve} on this
 * node's loopback, and our own program beside it, which asks it.
 */
final class VllmGenerate {
  /** Enough to keep a server busy: it works on hundreds of sequences together. */
  private static final int CONCURRENCY = 256;

  /** Few, because each answer with log-probabilities is large, and a prompt alone is fast. */
  private static final int LOGPROBS_CONCURRENCY = 16;

  /** How many log-probabilities vLLM 0.24.0 returns without a flag. */
  private static final int MAX_LOGPROBS = 20;

  private VllmGenerate() {}

  static Launch launch(Plan plan) {
    DataStage data = plan.payload().data().orElseThrow();
    List<Problem> problems = new ArrayList<>();
    Vllm vllm = new Vllm(plan, "vllm-serve", problems);
    String model = Trl.required(plan, "model_name", problems);
    VllmServe.refuseKeyAndTls(plan, vllm, problems);
    if (vllm.has("host")) {
      vllm.refuse("host", "the server listens on this machine only; leave it out");
    }
    vllm.add("vllm", "serve", model, "--host", "127.0.0.1", "--port", "${port}");
    if (!vllm.has("uvicorn_log_level")) {
      // Else a line for each request would be in the task's log.
      vllm.add("--uvicorn-log-level", "warning");
    }
    int logprobs =
        data.settings().optionalDecimal("logprobs").map(BigDecimal::intValueExact).orElse(0);
    if (logprobs > MAX_LOGPROBS) {
      vllm.add("--max-logprobs", "" + logprobs);
    }
    vllm.parallel();
    vllm.engine();
    Problem.throwIfAny(problems);
    List<String> command = new ArrayList<>(DataBackend.command(plan, data));
    long seconds = plan.inputs().serving().readyWithin().orElse(Serving.READY_WITHIN).toSeconds();
    command.addAll(List.of("--ready-within", "" + seconds));
    return Launch.taught(
        command,
        List.of(DataBackend.settings(settings(plan, data, VllmServe.served(vllm, model)))),
        vllm.command());
  }

  private static JsonObject settings(Plan plan, DataStage data, String served) {
    JsonObject settings = new JsonObject().with(data.settings());
    if (data.settings().optionalText("model").isEmpty()
        && plan.inputs().serving().loraAdapters().isEmpty()) {
      settings.with("model", served);
    }
    if (data.settings().optionalDecimal("concurrency").isEmpty()) {
      boolean logprobs = data.settings().optionalDecimal("logprobs").isPresent();
      settings.with("concurrency", logprobs ? LOGPROBS_CONCURRENCY : CONCURRENCY);
    }
    return settings.with("api_key", "VLLM_API_KEY");
  }
}
