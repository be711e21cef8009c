package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.job.config.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The sizes of a decoder that determine its activations and caches.
 *
 * @param name the model that has this shape
 * @param parameters all parameters
 * @param layers the number of layers
 * @param hidden the width of a layer
 * @param heads the number of query heads
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

  private static final int HEAD = 128;

  /** Shapes of known models, from their config.json files. */
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
          new ModelShape("phi-4", 14_659_507_200L, 40, 5120, 40, 10, 17920, 100352, true));

  /**
   * Returns a model's shape: from the config, else from the known model that the name contains,
   * else from the known model nearest in parameters; empty if none is near.
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
      boolean named = plain.contains(known.family());
      double rank = named ? off / 10 : off;
      if (off <= NEAR && rank <= least) {
        least = rank;
        best = known;
      }
    }
    return Optional.ofNullable(best);
  }

  /** Returns the name without its size: {@code llama-3.1}, {@code mistral}. */
  private String family() {
    int dash = name.lastIndexOf('-');
    boolean sized = dash > 0 && Character.isDigit(name.charAt(dash + 1)) && name.endsWith("b");
    return sized ? name.substring(0, dash) : name;
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
