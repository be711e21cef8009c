package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Computes the size of a model in a local folder, and reads its shape, from the config.json that
 * transformers keeps there.
 */
public final class ModelFolder {
  private static final String[] WIDTH = {"hidden_size", "n_embd", "d_model", "dim"};
  private static final String[] LAYERS = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};

  private ModelFolder() {}

  /**
   * Returns the training keys with {@code model_size} from the model's folder, if neither the
   * config nor the model's name gives the size. An unreadable folder changes nothing.
   */
  public static Training sized(Training training, Storage storage) {
    String name = training.text("model_name").orElse("");
    Optional<Long> parameters =
        training.parameters().isPresent() ? Optional.empty() : parameters(storage.written(name));
    if (parameters.isEmpty()) {
      return training;
    }
    Map<String, Object> given = new LinkedHashMap<>(training.given());
    given.put("model_size", ModelSize.words(parameters.get()));
    return new Training(given);
  }

  /**
   * Returns the number of parameters that the model's name or folder gives, if {@code model_size}
   * says a very different one; empty if it does not.
   */
  public static Optional<Long> contradiction(Training training, Storage storage) {
    String name = training.text("model_name").orElse("");
    Optional<Long> said = training.text("model_size").flatMap(ModelSize::parse);
    return said.isEmpty() || name.isEmpty()
        ? Optional.empty()
        : ModelSize.ofName(name)
            .or(() -> parameters(storage.written(name)))
            .filter(real -> !ModelSize.isNear(said.get(), real));
  }

  /**
   * Returns the {@code model_size} of the model in a folder; empty if its config.json does not say
   * it.
   */
  public static Optional<String> size(String folder) {
    return parameters(folder).map(ModelSize::words);
  }

  /**
   * Returns the workload with the layers and widths of the model's folder, if the config does not
   * give them. An unreadable folder changes nothing.
   */
  public static Optional<Workload> shaped(
      Optional<Workload> told, Training training, Storage storage) {
    String folder = storage.written(training.text("model_name").orElse(""));
    Optional<JsonObject> config = config(folder).filter(one -> parameters(one).isPresent());
    if (config.isEmpty()) {
      return told;
    }
    JsonObject text = text(config.get());
    int keyHeads = size(text, "num_key_value_heads");
    return Optional.of(
        told.orElse(Workload.NONE)
            .shaped(
                size(text, WIDTH),
                size(text, LAYERS),
                keyHeads > 0 ? Optional.of(keyHeads) : Optional.empty(),
                size(text, "vocab_size")));
  }

  private static JsonObject text(JsonObject config) {
    return config.optionalObject("text_config").orElse(config);
  }

  private static Optional<Long> parameters(String folder) {
    return config(folder).flatMap(ModelFolder::parameters);
  }

  private static Optional<JsonObject> config(String folder) {
    try {
      Path file = Path.of(folder, "config.json");
      if (!Files.isRegularFile(file) || Files.size(file) > 1 << 20) {
        return Optional.empty();
      }
      return Optional.of(Json.parseObject(DurableFiles.read(file)));
    } catch (IOException | UncheckedIOException | IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * Returns the number of a transformer's parameters: its embeddings, and attention and
   * feed-forward part of each layer; empty if the config lacks a size.
   */
  static Optional<Long> parameters(JsonObject config) {
    JsonObject text = text(config);
    long width = first(text, WIDTH);
    long layers = first(text, LAYERS);
    long words = first(text, "vocab_size");
    if (width <= 0 || layers <= 0 || words <= 0) {
      return Optional.empty();
    }
    long inner = first(text, "intermediate_size", "n_inner", "d_ff", "ffn_dim", "hidden_dim");
    boolean gated = isGated(text);
    long heads = Math.max(1, first(text, "num_attention_heads", "n_head", "num_heads"));
    long keyHeads = first(text, "num_key_value_heads");
    long headWidth = first(text, "head_dim");
    double across = (double) heads * (headWidth > 0 ? headWidth : (double) width / heads);
    long experts = Math.max(1, first(text, "num_local_experts", "n_routed_experts", "num_experts"));
    long expert = first(text, "moe_intermediate_size");
    double feedForward =
        (double) (gated ? 3 : 2)
            * width
            * (experts > 1 && expert > 0 ? expert : inner > 0 ? inner : 4 * width)
            * experts;
    double attention = width * across * (2 + 2.0 * (keyHeads > 0 ? keyHeads : heads) / heads);
    boolean tied = Boolean.TRUE.equals(config.members().get("tie_word_embeddings"));
    double all =
        layers * (feedForward + attention) + (double) words * width * (tied || !gated ? 1 : 2);
    return all < 1e15 ? Optional.of((long) all) : Optional.empty();
  }

  /**
   * Returns whether the feed-forward part has three matrices. Models with RMSNorm have them,
   * whatever the name of their activation. A config that names neither is written by hand, and
   * looks like Llama if it has heads of keys.
   */
  private static boolean isGated(JsonObject text) {
    Optional<String> activation = text.optionalText("hidden_act");
    return activation.orElse("").equals("silu")
        || text.optionalText("hidden_activation").isPresent()
        || text.members().containsKey("rms_norm_eps")
        || (activation.isEmpty() && first(text, "num_key_value_heads") > 0);
  }

  private static int size(JsonObject config, String... names) {
    return (int) Math.min(Integer.MAX_VALUE, first(config, names));
  }

  private static long first(JsonObject config, String... names) {
    for (String name : names) {
      if (config.members().get(name) instanceof BigDecimal number
          && number.signum() > 0
          && number.precision() - number.scale() < 12) {
        return number.longValue();
      }
    }
    return 0;
  }
}
