package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Facts that only estimates use: the key {@code estimate}. They do not change the job, so the
 * plan's digest does not include them.
 *
 * @param tokens tokens of one pass over the data, or tokens to generate
 * @param examples examples of one pass; each counts as {@code max_length} tokens if {@code tokens}
 *     is empty
 * @param expectedGpuHours the GPU-hours that the user expects
 * @param activeParameters of a mixture of experts: the parameters that work on one token
 * @param gradientCheckpointing empty if {@code options.gradient_checkpointing} decides
 * @param pureBf16 whether weights and optimizer have no copy in fp32
 * @param chunkedLoss whether the logits of a whole batch are never in memory at once; empty if the
 *     runner decides
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
    Optional<Boolean> chunkedLoss) {
  private static final ValueType COUNT =
      ValueType.count(
          "a count such as 120000, 350M or 2.5B", "[0-9]{1,15}(\\.[0-9]{1,3})?[KMBTkmbt]?");

  static final Section KEYS =
      section(
          optional(
              "tokens",
              COUNT,
              "Tokens of one pass over the data, such as `2.5B`. For `generate`: tokens that are written."),
          optional(
              "examples",
              COUNT,
              "Examples of one pass. If tokens is not given, each example counts as max_length tokens."),
          optional(
              "expected_gpu_hours",
              ValueType.DECIMAL_NUMBER,
              "The GPU-hours that you expect the run to take."),
          optional(
              "active_parameters",
              COUNT,
              "For a mixture of experts: the parameters that work on one token."),
          optional("layers", ValueType.integer(1, 10_000), "The number of the model's layers."),
          optional("hidden_size", ValueType.integer(1, 1_000_000), "The width of a layer."),
          optional(
              "kv_heads", ValueType.integer(1, 10_000), "The number of heads of keys and values."),
          optional(
              "vocab_size",
              ValueType.integer(1, 10_000_000),
              "The number of tokens that the tokenizer knows."),
          optional(
              "optimizer",
              ValueType.choice("adamw", "adamw_8bit", "adafactor", "sgd"),
              "The optimizer, whose state takes memory. Default: `adamw`."),
          optional(
              "gradient_checkpointing",
              ValueType.BOOLEAN,
              "Whether activations are computed again in the backward pass. Default:"
                  + " options.gradient_checkpointing."),
          optional(
              "pure_bf16",
              ValueType.BOOLEAN,
              "Whether weights and optimizer are kept in 16 bits only, without a copy in fp32."),
          optional(
              "chunked_loss",
              ValueType.BOOLEAN,
              "Whether the loss is computed in parts (Liger, torchtune), so that the logits of a whole batch are"
                  + " never in memory at once. Default: as TRL does; with other runners `false`."));

  /** The workload if the config says nothing about it. */
  static final Workload NONE =
      new Workload(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          "adamw",
          Optional.empty(),
          false,
          Optional.empty());

  /** Returns a copy with a model's layers and widths; those that the config gives stay. */
  Workload shaped(int width, int depth, Optional<Integer> keyHeads, int words) {
    return new Workload(
        tokens,
        examples,
        expectedGpuHours,
        activeParameters,
        layers.or(() -> Optional.of(depth)),
        hiddenSize.or(() -> Optional.of(width)),
        kvHeads.or(() -> keyHeads),
        vocabSize.or(() -> Optional.of(words)),
        optimizer,
        gradientCheckpointing,
        pureBf16,
        chunkedLoss);
  }

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
        values.optional("chunked_loss", Boolean.class));
  }

  private static Optional<Long> count(Values values, String key) {
    Optional<String> text = values.optionalText(key);
    return text.map(Workload::count);
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
