package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Settings of a server beside its model.
 *
 * @param readyWithin how long a server may take to answer after its start; empty for {@link
 *     #READY_WITHIN}
 * @param loraAdapters paths of LoRA adapters, by the model name in requests
 * @param smokePrompts what {@code release deploy --smoke} asks the server
 */
public record Serving(
    Optional<Duration> readyWithin,
    Map<String, String> loraAdapters,
    List<SmokePrompt> smokePrompts) {
  /**
   * A question to a server.
   *
   * @param expect a regular expression that the answer must contain a match of
   * @param maxTokens the longest answer
   */
  public record SmokePrompt(String prompt, String expect, int maxTokens) {}

  /**
   * The default: 30 minutes. Models of hundreds of billions of parameters load in 5 to 10 minutes.
   */
  public static final Duration READY_WITHIN = Duration.ofMinutes(30);

  static final Section KEYS =
      section(
          optional(
              "ready_within",
              ValueType.LENGTH,
              "For `stage: serve`: how long after its start a server may take to answer. `serve` ends a server"
                  + " that takes longer. With data.generate, the task fails then. Default: 30 minutes."),
          optional(
              "lora_adapters",
              mapOf(ValueType.NAME_WORD, ValueType.PATH),
              "For `vllm`: LoRA adapters. Each key is the model name in requests, each value the adapter's path."),
          optional(
              "smoke_prompts",
              listOf(
                  section(
                      required("prompt", ValueType.TEXT, "The text that the server gets."),
                      required(
                          "expect",
                          ValueType.TEXT,
                          "A regular expression of Java. The answer must contain a match."),
                      withDefault(
                          "max_tokens",
                          ValueType.integer(1, 4096),
                          "64",
                          "The longest answer, in tokens."))),
              "For `stage: serve`: what `release deploy --smoke` asks the server before a release stays in"
                  + " production."));

  static Serving from(Values values) {
    return new Serving(
        values.optionalDuration("ready_within"), values.textMap("lora_adapters"), prompts(values));
  }

  private static List<SmokePrompt> prompts(Values values) {
    if (!values.has("smoke_prompts")) {
      return List.of();
    }
    return values.sections("smoke_prompts").stream()
        .map(
            one ->
                new SmokePrompt(one.text("prompt"), one.text("expect"), one.integer("max_tokens")))
        .toList();
  }

  private static void checkPrompts(Values values) {
    if (!values.optionalText("stage").orElse("").equals("serve")) {
      values.report("smoke_prompts", "needs stage: serve; only a server is asked");
    }
    for (Values one : values.sections("smoke_prompts")) {
      if (!one.has("expect") || one.isWrong("expect")) {
        continue;
      }
      try {
        Pattern.compile(one.text("expect"));
      } catch (PatternSyntaxException broken) {
        one.report(
            "expect",
            "'%s' is no regular expression: %s"
                .formatted(one.text("expect"), broken.getDescription()));
      }
    }
  }

  /** Adds a problem for a key that the run's stage or backend does not use. */
  static void check(Values values) {
    boolean waits =
        values.optionalText("stage").orElse("").equals("serve")
            || (values.has("data") && values.optionalText("backend").orElse("").equals("vllm"));
    if (values.has("ready_within") && !waits) {
      values.report(
          "ready_within",
          "needs stage: serve, or backend vllm with data.generate; nothing else is waited for");
    }
    if (values.has("smoke_prompts")) {
      checkPrompts(values);
    }
    if (values.has("lora_adapters") && !values.optionalText("backend").orElse("").equals("vllm")) {
      values.report("lora_adapters", "needs backend: vllm");
    }
  }
}
