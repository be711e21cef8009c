package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelFolderTest {
  @TempDir Path folder;

  /** The architectures that the models' own config.json files state, and their published sizes. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Llama 3 8B | {'hidden_size': 4096, 'num_hidden_layers': 32, 'vocab_size': 128256, 'intermediate_size': 14336,"
            + " 'num_attention_heads': 32, 'num_key_value_heads': 8, 'hidden_act': 'silu'} | 8.03",
        "Mixtral 8x7B | {'hidden_size': 4096, 'num_hidden_layers': 32, 'vocab_size': 32000, 'intermediate_size': 14336,"
            + " 'num_attention_heads': 32, 'num_key_value_heads': 8, 'hidden_act': 'silu', 'num_local_experts': 8} | 46.7",
        "GPT-2 | {'n_embd': 768, 'n_layer': 12, 'vocab_size': 50257, 'n_head': 12} | 0.124",
        "Llama 2 70B | {'hidden_size': 8192, 'num_hidden_layers': 80, 'vocab_size': 32000, 'intermediate_size': 28672,"
            + " 'num_attention_heads': 64, 'num_key_value_heads': 8, 'hidden_act': 'silu'} | 69.0",
        "Gemma 7B | {'hidden_size': 3072, 'num_hidden_layers': 28, 'vocab_size': 256000, 'intermediate_size': 24576,"
            + " 'num_attention_heads': 16, 'num_key_value_heads': 16, 'head_dim': 256, 'hidden_act': 'gelu',"
            + " 'rms_norm_eps': 0.000001, 'tie_word_embeddings': true} | 8.54",
        "Qwen3 0.6B | {'hidden_size': 1024, 'num_hidden_layers': 28, 'vocab_size': 151936, 'intermediate_size': 3072,"
            + " 'num_attention_heads': 16, 'num_key_value_heads': 8, 'head_dim': 128, 'hidden_act': 'silu',"
            + " 'tie_word_embeddings': true} | 0.596",
        "Qwen2.5 1.5B without its activation | {'hidden_size': 1536, 'num_hidden_layers': 28, 'vocab_size': 151936,"
            + " 'intermediate_size': 8960, 'num_attention_heads': 12, 'num_key_value_heads': 2,"
            + " 'tie_word_embeddings': true} | 1.544",
        "StarCoder2 3B | {'hidden_size': 3072, 'num_hidden_layers': 30, 'vocab_size': 49152, 'intermediate_size': 12288,"
            + " 'num_attention_heads': 24, 'num_key_value_heads': 2, 'hidden_act': 'gelu_pytorch_tanh'} | 3.03",
      })
  void theSizeIsCountedFromTheArchitecture(String name, String config, double billions) {
    long parameters =
        ModelFolder.parameters(Json.parseObject(config.replace('\'', '"'))).orElseThrow();

    assertThat(parameters / 1e9).as(name).isCloseTo(billions, within(billions * 0.03));
  }

  /** The layers and widths go on to the estimate; those that the config gives stay. */
  @Test
  void theShapeIsRead() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        "{\"hidden_size\": 2048, \"num_hidden_layers\": 14, \"vocab_size\": 32000,"
            + " \"num_attention_heads\": 16, \"num_key_value_heads\": 4}");
    Storage storage = new Storage("/s", folder.toString(), "/x", Optional.empty());
    Training training = new Training(Map.of("model_name", "${durable}"));

    Workload read = ModelFolder.shaped(Optional.empty(), training, storage).orElseThrow();

    assertThat(read.layers()).contains(14);
    assertThat(read.hiddenSize()).contains(2048);
    assertThat(read.kvHeads()).contains(4);
    assertThat(read.vocabSize()).contains(32000);
    Workload told = Workload.NONE.shaped(1, 2, Optional.empty(), 3);
    assertThat(ModelFolder.shaped(Optional.of(told), training, storage).orElseThrow().layers())
        .contains(2);
    Files.writeString(folder.resolve("config.json"), "{\"hidden_size\": 2048}");
    assertThat(ModelFolder.shaped(Optional.empty(), training, storage)).isEmpty();
  }

  @Test
  void whatIsNoModelHasNoSize() throws IOException {
    assertThat(sized(folder + "/none")).isEmpty();
    Files.writeString(folder.resolve("config.json"), "[1]");
    assertThat(sized(folder.toString())).isEmpty();
    Files.writeString(
        folder.resolve("config.json"), "{\"hidden_size\": 1e300, \"vocab_size\": -1}");
    assertThat(sized(folder.toString())).isEmpty();
  }

  @Test
  void aFolderOnATierIsFoundAndWhatIsWrittenWins() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        "{\"n_embd\": 768, \"n_layer\": 12, \"vocab_size\": 50257, \"n_head\": 12}");

    assertThat(sized("${durable}")).contains("123.53M");
    assertThat(
            ModelFolder.sized(
                    new Training(Map.of("model_name", folder.toString(), "model_size", "9B")),
                    tiers())
                .text("model_size"))
        .contains("9B");
  }

  private Optional<String> sized(String name) {
    return ModelFolder.sized(new Training(Map.of("model_name", name)), tiers()).text("model_size");
  }

  private Storage tiers() {
    return new Storage("/scratch", folder.toString(), "/shared", Optional.empty());
  }
}
