package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.section;

import dev.nexa.slurm.config.Shape.Section;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a server needs beside its model.
 *
 * @param readyWithin how long after its start it may take to answer, before it is ended
 * @param loraAdapters paths of LoRA adapters by the names that requests ask for them
 */
public record Serving(Optional<Duration> readyWithin, Map<String, String> loraAdapters) {
  /** Half an hour: models of hundreds of billions of parameters take 5 to 10 minutes to load. */
  public static final Duration READY_WITHIN = Duration.ofMinutes(30);

  static final Section KEYS =
      section(
          optional(
              "ready_within",
              ValueType.TIME,
              "For `stage: serve`: how long after its start a server may take to answer before `serve` ends it;"
                  + " 30 minutes if not given."),
          optional(
              "lora_adapters",
              mapOf(ValueType.NAME_WORD, ValueType.PATH),
              "For `vllm`: paths of LoRA adapters by the model's names that requests ask for them."));

  static Serving from(Values values) {
    return new Serving(values.optionalDuration("ready_within"), values.textMap("lora_adapters"));
  }

  /** What only some runs read. */
  static void check(Values values, List<Problem> problems) {
    if (values.has("ready_within") && !values.optionalText("stage").orElse("").equals("serve")) {
      problems.add(
          values.problem("ready_within", "needs stage: serve; nothing else is waited for"));
    }
    if (values.has("lora_adapters") && !values.optionalText("backend").orElse("").equals("vllm")) {
      problems.add(values.problem("lora_adapters", "needs backend: vllm"));
    }
  }
}
