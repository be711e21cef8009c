package dev.nexa.slurm.job.config.shared;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Sizes of models whose names do not contain a size, in millions of parameters.
 *
 * <p>The numbers are rounded as on the model cards. They serve the rules for large models, not
 * prices.
 */
final class KnownModels {
  private static final Map<String, Integer> MILLIONS =
      Map.<String, Integer>ofEntries(
          Map.entry("gpt2", 124),
          Map.entry("gpt2-medium", 355),
          Map.entry("gpt2-large", 774),
          Map.entry("gpt2-xl", 1558),
          Map.entry("distilgpt2", 82),
          Map.entry("bert-base", 110),
          Map.entry("bert-large", 340),
          Map.entry("distilbert-base", 66),
          Map.entry("roberta-base", 125),
          Map.entry("roberta-large", 355),
          Map.entry("xlm-roberta-base", 278),
          Map.entry("xlm-roberta-large", 560),
          Map.entry("deberta-v3-small", 141),
          Map.entry("deberta-v3-base", 184),
          Map.entry("deberta-v3-large", 435),
          Map.entry("modernbert-base", 149),
          Map.entry("modernbert-large", 395),
          Map.entry("t5-small", 60),
          Map.entry("t5-base", 220),
          Map.entry("t5-large", 770),
          Map.entry("flan-t5-small", 77),
          Map.entry("flan-t5-base", 248),
          Map.entry("flan-t5-large", 783),
          Map.entry("flan-t5-xl", 2850),
          Map.entry("flan-t5-xxl", 11300),
          Map.entry("bart-base", 139),
          Map.entry("bart-large", 406),
          Map.entry("phi-1", 1300),
          Map.entry("phi-1_5", 1300),
          Map.entry("phi-2", 2700),
          Map.entry("phi-3-mini", 3800),
          Map.entry("phi-3-small", 7400),
          Map.entry("phi-3-medium", 14000),
          Map.entry("phi-3.5-mini", 3800),
          Map.entry("phi-3.5-moe", 41900),
          Map.entry("phi-4", 14700),
          Map.entry("phi-4-mini", 3800),
          Map.entry("starcoder", 15500),
          Map.entry("mistral-nemo", 12200),
          Map.entry("mistral-small", 24000),
          Map.entry("mistral-large", 123000),
          Map.entry("codestral", 22200),
          Map.entry("command-r", 35000),
          Map.entry("command-r-plus", 104000),
          Map.entry("command-r7b", 8000),
          Map.entry("bloom", 176000),
          Map.entry("bloomz", 176000),
          Map.entry("dbrx", 132000),
          Map.entry("grok-1", 314000),
          Map.entry("deepseek-v2", 236000),
          Map.entry("deepseek-v2-lite", 15700),
          Map.entry("deepseek-v2.5", 236000),
          Map.entry("deepseek-v3", 671000),
          Map.entry("deepseek-r1", 671000),
          Map.entry("deepseek-coder-v2", 236000),
          Map.entry("qwen1.5-moe", 14300),
          Map.entry("kimi-k2", 1000000),
          Map.entry("glm-4.5", 355000),
          Map.entry("glm-4.5-air", 106000));

  private KnownModels() {}

  /**
   * Returns the parameters of the known name that is the longest prefix of the last part of {@code
   * name}, at a hyphen; empty if there is none.
   */
  static Optional<Long> parameters(String name) {
    String last = name.substring(name.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
    for (int end = last.length(); end > 0; end = last.lastIndexOf('-', end - 1)) {
      Integer millions = MILLIONS.get(last.substring(0, end));
      if (millions != null) {
        return Optional.of(millions * 1_000_000L);
      }
    }
    return Optional.empty();
  }
}
