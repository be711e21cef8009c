package dev.nexa.slurm.job.config.shared;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Sizes of models whose names do not contain a size, in millions of parameters.
 *
 * <p>The numbers are rounded as on the model cards. They serve the rules for large models, not
 * prices.
 */
final class KnownModels {
  private static final String TABLE =
      """
      gpt2=124 gpt2-medium=355 gpt2-large=774 gpt2-xl=1558 distilgpt2=82 bert-base=110
      bert-large=340 distilbert-base=66 roberta-base=125 roberta-large=355 xlm-roberta-base=278
      xlm-roberta-large=560 deberta-v3-small=141 deberta-v3-base=184 deberta-v3-large=435
      modernbert-base=149 modernbert-large=395 t5-small=60 t5-base=220 t5-large=770
      flan-t5-small=77 flan-t5-base=248 flan-t5-large=783 flan-t5-xl=2850 flan-t5-xxl=11300
      bart-base=139 bart-large=406 phi-1=1300 phi-1_5=1300 phi-2=2700 phi-3-mini=3800
      phi-3-small=7400 phi-3-medium=14000 phi-3.5-mini=3800 phi-3.5-moe=41900 phi-4=14700
      phi-4-mini=3800 starcoder=15500 mistral-nemo=12200 mistral-small=24000 mistral-large=123000
      codestral=22200 command-r=35000 command-r-plus=104000 command-r7b=8000 bloom=176000
      bloomz=176000 dbrx=132000 grok-1=314000 deepseek-v2=236000 deepseek-v2-lite=15700
      deepseek-v2.5=236000 deepseek-v3=671000 deepseek-r1=671000 deepseek-coder-v2=236000
      qwen1.5-moe=14300 kimi-k2=1000000 glm-4.5=355000 glm-4.5-air=106000
      """;

  private static final Map<String, Integer> MILLIONS =
      Stream.of(TABLE.strip().split("\\s+", -1))
          .map(model -> model.split("=", 2))
          .collect(Collectors.toMap(model -> model[0], model -> Integer.valueOf(model[1])));

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
