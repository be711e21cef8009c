package dev.nexa.slurm.job.config;

import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Settings of a server beside its model.
 *
 * @param readyWithin how long a server may take to answer after its start; empty for {@link
 *     #READY_WITHIN}
 * @param loraAdapters paths of LoRA adapters, by the model name in requests
 */
public record Serving(Optional<Duration> readyWithin, Map<String, String> loraAdapters) {
  /**
   * The default: 30 minutes. Models of hundreds of billions of parameters load in 5 to 10 minutes.
   */
  public static final Duration READY_WITHIN = Duration.ofMinutes(30);

  static final Section KEYS =
      section(
          optional(
              "ready_within",
              ValueType.TIME,
              "For `stage: serve`: how long after its start a server may take to answer. `serve` ends a server"
                  + " that takes longer. With data.generate, the task fails then. Default: 30 minutes."),
          optional(
              "lora_adapters",
              mapOf(ValueType.NAME_WORD, ValueType.PATH),
              "For `vllm`: LoRA adapters. Each key is the model name in requests, each value the adapter's path."));

  static Serving from(Values values) {
    return new Serving(values.optionalDuration("ready_within"), values.textMap("lora_adapters"));
  }

  /** Adds a problem for a key that the run's stage or backend does not use. */
  static void check(Values values, List<Problem> problems) {
    boolean waits =
        values.optionalText("stage").orElse("").equals("serve")
            || (values.has("data") && values.optionalText("backend").orElse("").equals("vllm"));
    if (values.has("ready_within") && !waits) {
      problems.add(
          values.problem(
              "ready_within",
              "needs stage: serve, or backend vllm with data.generate; nothing else is waited for"));
    }
    if (values.has("lora_adapters") && !values.optionalText("backend").orElse("").equals("vllm")) {
      problems.add(values.problem("lora_adapters", "needs backend: vllm"));
    }
  }
}
