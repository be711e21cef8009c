package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.job.config.run.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The sizes of a decoder that determine its activations and caches.
 *
 * @param name the model that has this shape
 * @param parameters all parameters
 * @param layers the number of layers
 * @param hidden the width of a layer
 * @param heads the number of query heads; the width by a head's size where queries are wider or
 *     narrower than a layer
 * @param keyValueHeads the number of heads of keys and values
 * @param intermediate the width of the feed-forward part
 * @param vocabulary the number of tokens that the tokenizer knows; 0 if unknown
 * @param gated whether the feed-forward part has a gate (SwiGLU), and so three matrices instead of
 *     two
 */
public record ModelShape(
    String name,
    long parameters,
    int layers,
    int hidden,
    int heads,
    int keyValueHeads,
    int intermediate,
    int vocabulary,
    boolean gated) {

  /** The largest relative difference in parameters at which a known model's shape is used. */
  private static final double NEAR = 0.15;

  /**
   * The largest difference if the name is the known model's own: a gemma-7b has 8.5B parameters.
   */
  private static final double OF_NAME = 0.25;

  private static final int HEAD = 128;

  /**
   * Shapes of known models, from their config.json files. The shapes of Gemma, Qwen3, Phi-2, Phi-3,
   * Phi-4-mini, Falcon and Mixtral are from LitGPT's config.py at 26857050. For a mixture of
   * experts, the width counts the experts that work on a token.
   */
  private static final List<ModelShape> KNOWN =
      List.of(
          new ModelShape("gpt2", 124_439_808L, 12, 768, 12, 12, 3072, 50257, false),
          new ModelShape("gpt2-medium", 354_823_168L, 24, 1024, 16, 16, 4096, 50257, false),
          new ModelShape("gpt2-large", 774_030_080L, 36, 1280, 20, 20, 5120, 50257, false),
          new ModelShape("gpt2-xl", 1_557_611_200L, 48, 1600, 25, 25, 6400, 50257, false),
          new ModelShape("tinyllama-1.1b", 1_100_048_384L, 22, 2048, 32, 4, 5632, 32000, true),
          new ModelShape("llama-3.2-1b", 1_235_814_400L, 16, 2048, 32, 8, 8192, 128256, true),
          new ModelShape("llama-3.2-3b", 3_212_749_824L, 28, 3072, 24, 8, 8192, 128256, true),
          new ModelShape("llama-3.1-8b", 8_030_261_248L, 32, 4096, 32, 8, 14336, 128256, true),
          new ModelShape("llama-3.1-70b", 70_553_706_496L, 80, 8192, 64, 8, 28672, 128256, true),
          new ModelShape(
              "llama-3.1-405b", 405_853_388_800L, 126, 16384, 128, 8, 53248, 128256, true),
          new ModelShape("llama-2-7b", 6_738_415_616L, 32, 4096, 32, 32, 11008, 32000, true),
          new ModelShape("llama-2-13b", 13_015_864_320L, 40, 5120, 40, 40, 13824, 32000, true),
          new ModelShape("llama-33b", 32_528_943_616L, 60, 6656, 52, 52, 17920, 32000, true),
          new ModelShape("llama-65b", 65_285_660_672L, 80, 8192, 64, 64, 22016, 32000, true),
          new ModelShape("llama-2-70b", 68_976_648_192L, 80, 8192, 64, 8, 28672, 32000, true),
          new ModelShape("mistral-7b", 7_241_732_096L, 32, 4096, 32, 8, 14336, 32000, true),
          new ModelShape("qwen2.5-0.5b", 494_032_768L, 24, 896, 14, 2, 4864, 151936, true),
          new ModelShape("qwen2.5-1.5b", 1_543_714_304L, 28, 1536, 12, 2, 8960, 151936, true),
          new ModelShape("qwen2.5-3b", 3_085_938_688L, 36, 2048, 16, 2, 11008, 151936, true),
          new ModelShape("qwen2.5-7b", 7_615_616_512L, 28, 3584, 28, 4, 18944, 152064, true),
          new ModelShape("qwen2.5-14b", 14_770_033_664L, 48, 5120, 40, 8, 13824, 152064, true),
          new ModelShape("qwen2.5-32b", 32_763_876_352L, 64, 5120, 40, 8, 27648, 152064, true),
          new ModelShape("qwen2.5-72b", 72_706_203_648L, 80, 8192, 64, 8, 29568, 152064, true),
          new ModelShape("qwen3-0.6b", 596_000_000L, 28, 1024, 8, 8, 3072, 151936, true),
          new ModelShape("qwen3-1.7b", 1_720_000_000L, 28, 2048, 16, 8, 6144, 151936, true),
          new ModelShape("qwen3-4b", 4_022_000_000L, 36, 2560, 20, 8, 9728, 151936, true),
          new ModelShape("qwen3-8b", 8_188_000_000L, 36, 4096, 32, 8, 12288, 151936, true),
          new ModelShape("qwen3-14b", 14_765_000_000L, 40, 5120, 40, 8, 17408, 151936, true),
          new ModelShape("qwen3-32b", 32_758_000_000L, 64, 5120, 40, 8, 25600, 151936, true),
          new ModelShape("gemma-2b", 2_506_000_000L, 18, 2048, 8, 1, 16384, 256000, true),
          new ModelShape("gemma-7b", 8_538_000_000L, 28, 3072, 12, 16, 24576, 256000, true),
          new ModelShape("gemma-2-2b", 2_614_000_000L, 26, 2304, 9, 4, 9216, 256000, true),
          new ModelShape("gemma-2-9b", 9_241_000_000L, 42, 3584, 14, 8, 14336, 256000, true),
          new ModelShape("gemma-2-27b", 27_226_000_000L, 46, 4608, 36, 16, 36864, 256000, true),
          new ModelShape("gemma-3-4b", 3_880_000_000L, 34, 2560, 10, 4, 10240, 262144, true),
          new ModelShape("gemma-3-12b", 11_765_000_000L, 48, 3840, 15, 8, 15360, 262144, true),
          new ModelShape("gemma-3-27b", 27_008_000_000L, 62, 5376, 42, 16, 21504, 262144, true),
          new ModelShape("falcon-7b", 7_217_000_000L, 32, 4544, 71, 1, 18176, 65024, false),
          new ModelShape("falcon-40b", 41_834_000_000L, 60, 8192, 128, 8, 32768, 65024, false),
          new ModelShape("mixtral-8x7b", 46_851_000_000L, 32, 4096, 32, 8, 28672, 32000, true),
          new ModelShape("mixtral-8x22b", 140_841_000_000L, 56, 6144, 48, 8, 32768, 32768, true),
          new ModelShape("phi-2", 2_774_000_000L, 32, 2560, 32, 32, 10240, 51200, false),
          new ModelShape("phi-3-mini", 3_820_000_000L, 32, 3072, 32, 32, 8192, 32064, true),
          new ModelShape("phi-3.5-mini", 3_820_000_000L, 32, 3072, 32, 32, 8192, 32064, true),
          new ModelShape("phi-4-mini", 3_836_000_000L, 32, 3072, 24, 8, 8192, 200064, true),
          new ModelShape("phi-4", 14_659_507_200L, 40, 5120, 40, 10, 17920, 100352, true));

  /**
   * Returns a model's shape. It comes from the config, else from the known model that the name
   * contains. If neither gives it, it comes from the known model of the family that the name
   * contains, else from the known model nearest in parameters. Empty if none is near.
   */
  static Optional<ModelShape> of(String name, long parameters, Optional<Workload> told) {
    if (told.isPresent()
        && told.get().layers().isPresent()
        && told.get().hiddenSize().isPresent()) {
      return Optional.of(told(parameters, told.get()));
    }
    String plain = name.toLowerCase(Locale.ROOT);
    ModelShape best = null;
    double least = NEAR;
    for (ModelShape known : KNOWN) {
      double off = Math.abs((double) parameters / known.parameters - 1);
      boolean own = plain.contains(known.name);
      double rank = own ? off - 2 : known.isOf(plain) ? off - 1 : off;
      if (off <= (own ? OF_NAME : NEAR) && rank <= least) {
        least = rank;
        best = known;
      }
    }
    return best == null || told.isEmpty()
        ? Optional.ofNullable(best)
        : Optional.of(best.with(told.get()));
  }

  /** Returns this shape with the sizes that the config gives. */
  private ModelShape with(Workload told) {
    return new ModelShape(
        name,
        parameters,
        told.layers().orElse(layers),
        told.hiddenSize().orElse(hidden),
        heads,
        told.kvHeads().orElse(keyValueHeads),
        intermediate,
        told.vocabSize().orElse(vocabulary),
        gated);
  }

  /** Returns the name without its size: {@code llama-3}, {@code mistral}. */
  private String family() {
    int dash = name.lastIndexOf('-');
    boolean sized = dash > 0 && Character.isDigit(name.charAt(dash + 1)) && name.endsWith("b");
    // Where two of Llama 3, 3.1, 3.2 and 3.3 have a size, they have one shape for it.
    return sized ? name.substring(0, dash).replaceFirst("^llama-3\\..*", "llama-3") : name;
  }

  /**
   * Returns whether a model's name says that it has this shape. A shape of another model's name
   * only happens to have as many parameters.
   */
  boolean isOf(String model) {
    String plain = model.toLowerCase(Locale.ROOT);
    // Not qwen3 in qwen30, and not the first Gemma in gemma-4-9b.
    String family = "(?<![a-z0-9])" + Pattern.quote(family()) + "(?![a-z0-9]|-[0-9]+[^0-9bm.]?-)";
    return isTold() || plain.contains(name) || Pattern.compile(family).matcher(plain).find();
  }

  /** Returns whether a number of parameters is only the rounded one of this model's name. */
  boolean isRounded(long said) {
    return !isTold() && Math.abs((double) said / parameters - 1) > NEAR;
  }

  private static ModelShape told(long parameters, Workload told) {
    int layers = told.layers().orElseThrow();
    int hidden = told.hiddenSize().orElseThrow();
    int heads = Math.max(1, hidden / HEAD);
    int keyValueHeads = told.kvHeads().orElse(heads);
    int vocabulary = told.vocabSize().orElse(0);
    double attention = (2.0 + 2.0 * keyValueHeads / heads) * hidden * hidden;
    double rest = (parameters - 2.0 * vocabulary * hidden) / layers - attention;
    int intermediate = (int) Math.max(hidden, rest / (3.0 * hidden));
    return new ModelShape(
        "the config",
        parameters,
        layers,
        hidden,
        heads,
        keyValueHeads,
        intermediate,
        vocabulary,
        true);
  }

  /** Returns whether the shape comes from the config, not from a similar model. */
  boolean isTold() {
    return name.equals("the config");
  }

  /** Returns the parameters of the embedding and the head. */
  long embedding() {
    return Math.min(parameters, 2L * vocabulary * hidden);
  }

  /** Returns the parameters of adapters with that rank at every linear layer. */
  long adapter(int rank) {
    long keyValue = (long) hidden * keyValueHeads / heads;
    long attention = 4L * hidden + 2 * (hidden + keyValue);
    long feedForward = (gated ? 3L : 2L) * (hidden + intermediate);
    return (long) layers * rank * (attention + feedForward);
  }
}
