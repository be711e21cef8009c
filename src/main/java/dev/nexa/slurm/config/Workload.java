package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.section;

import dev.nexa.slurm.config.Shape.Section;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * What an estimate cannot read off the other keys: the key {@code estimate}. It changes what is
 * told, never what runs, so it is no part of the plan's digest.
 *
 * @param tokens of one pass over the data, or tokens that are generated
 * @param examples of one pass; each counts as {@code max_length} tokens where {@code tokens} is not
 *     given
 * @param expectedGpuHours what the user expects
 * @param activeParameters of a mixture of experts: those that work on one token
 */
public record Workload(
    Optional<Long> tokens,
    Optional<Long> examples,
    Optional<BigDecimal> expectedGpuHours,
    Optional<Long> activeParameters,
    Optional<Integer> layers,
    Optional<Integer> hiddenSize,
    Optional<Integer> kvHeads,
    Optional<Integer> vocabSize,
    String optimizer,
    Optional<Boolean> gradientCheckpointing,
    boolean pureBf16,
    boolean chunkedLoss) {
  private static final ValueType COUNT =
      ValueType.count(
          "a count such as 120000, 350M or 2.5B", "[0-9]{1,15}(\\.[0-9]{1,3})?[KMBTkmbt]?");

  static final Section KEYS =
      section(
          optional(
              "tokens",
              COUNT,
              "Tokens of one pass over the data, such as `2.5B`; for `generate`, tokens that are written."),
          optional(
              "examples",
              COUNT,
              "Examples of one pass, each counted as max_length tokens where tokens is not given."),
          optional(
              "expected_gpu_hours", ValueType.DECIMAL_NUMBER, "What you expect the run to take."),
          optional(
              "active_parameters",
              COUNT,
              "Of a mixture of experts: the parameters that work on one token."),
          optional("layers", ValueType.integer(1, 10_000), "The model's layers."),
          optional("hidden_size", ValueType.integer(1, 1_000_000), "The width of a layer."),
          optional("kv_heads", ValueType.integer(1, 10_000), "Heads of keys and values."),
          optional("vocab_size", ValueType.integer(1, 10_000_000), "Words of the tokenizer."),
          optional(
              "optimizer",
              ValueType.choice("adamw", "adamw_8bit", "adafactor", "sgd"),
              "The optimizer, whose state takes memory; `adamw` if not given."),
          optional(
              "gradient_checkpointing",
              ValueType.BOOLEAN,
              "Whether activations are computed again in the backward pass; options.gradient_checkpointing if"
                  + " not given."),
          optional(
              "pure_bf16",
              ValueType.BOOLEAN,
              "Whether weights and optimizer are kept in 16 bits only, without a copy in fp32."),
          optional(
              "chunked_loss",
              ValueType.BOOLEAN,
              "Whether the loss is computed in parts (Liger, torchtune), so that the logits of a batch never"
                  + " stand whole in memory."));

  static Workload from(Values values) {
    return new Workload(
        count(values, "tokens"),
        count(values, "examples"),
        values.optionalDecimal("expected_gpu_hours"),
        count(values, "active_parameters"),
        values.optionalInteger("layers"),
        values.optionalInteger("hidden_size"),
        values.optionalInteger("kv_heads"),
        values.optionalInteger("vocab_size"),
        values.optionalText("optimizer").orElse("adamw"),
        values.optional("gradient_checkpointing", Boolean.class),
        values.optional("pure_bf16", Boolean.class).orElse(false),
        values.optional("chunked_loss", Boolean.class).orElse(false));
  }

  private static Optional<Long> count(Values values, String key) {
    Optional<String> text = values.optionalText(key);
    return text.isPresent() ? Optional.of(count(text.get())) : Optional.empty();
  }

  private static long count(String text) {
    int zeros =
        switch (text.charAt(text.length() - 1)) {
          case 'K', 'k' -> 3;
          case 'M', 'm' -> 6;
          case 'B', 'b' -> 9;
          case 'T', 't' -> 12;
          default -> 0;
        };
    String digits = zeros == 0 ? text : text.substring(0, text.length() - 1);
    return new BigDecimal(digits).scaleByPowerOfTen(zeros).longValue();
  }
}
