package dev.nexa.slurm.job.config.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes as published models' names tell them. */
class ModelSizeTest {

  @ParameterizedTest
  @CsvSource({
    "meta-llama/Llama-2-7b-chat-hf, 7",
    "meta-llama/Llama-3.1-70B-Instruct, 70",
    "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8, 405",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct, 17",
    "mistralai/Mistral-7B-Instruct-v0.3, 7",
    "mistralai/Mixtral-8x7B-Instruct-v0.1, 56",
    "mistralai/Mixtral-8x22B-v0.1, 176",
    "mistralai/Mistral-Large-Instruct-2411, 123",
    "Qwen/Qwen2.5-72B-Instruct, 72",
    "Qwen/Qwen2.5-0.5B, 0.5",
    "Qwen/Qwen3-235B-A22B, 235",
    "Qwen/Qwen1.5-MoE-A2.7B, 14.3",
    "01-ai/Yi-34B, 34",
    "tiiuae/falcon-180B, 180",
    "EleutherAI/gpt-neox-20b, 20",
    "EleutherAI/pythia-6.9b-deduped, 6.9",
    "EleutherAI/pythia-410m, 0.41",
    "facebook/opt-66b, 66",
    "bigscience/bloom, 176",
    "bigscience/bloom-560m, 0.56",
    "bigscience/bloomz-7b1-mt, 7.1",
    "stabilityai/stablelm-2-1_6b, 1.6",
    "TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T, 1.1",
    "HuggingFaceTB/SmolLM2-135M-Instruct, 0.135",
    "google/gemma-2-27b-it, 27",
    "google/flan-t5-xxl, 11.3",
    "google-bert/bert-base-uncased, 0.11",
    "gpt2, 0.124",
    "openai-community/gpt2-xl, 1.558",
    "microsoft/phi-2, 2.7",
    "microsoft/Phi-3-medium-128k-instruct, 14",
    "microsoft/Phi-3.5-MoE-instruct, 41.9",
    "openai/gpt-oss-120b, 120",
    "deepseek-ai/DeepSeek-V3, 671",
    "deepseek-ai/DeepSeek-V2-Lite-Chat, 15.7",
    "deepseek-ai/DeepSeek-R1, 671",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B, 32",
    "CohereForAI/c4ai-command-r-plus, ",
    "CohereLabs/command-r-plus-08-2024, 104",
    "databricks/dbrx-instruct, 132",
    "/models/llama-13b/checkpoint-500, 13",
    "my-own-model, ",
    "gpt3, ",
    "team/phi-team, ",
  })
  void ofAName(String name, Double billions) {
    assertThat(ModelSize.ofName(name))
        .isEqualTo(Optional.ofNullable(billions).map(b -> Math.round(b * 1e9)));
  }

  @ParameterizedTest
  @CsvSource({
    "7B, 7000000000",
    "70b, 70000000000",
    "8x7B, 56000000000",
    "1.5B, 1500000000",
    "500M, 500000000",
    "1T, 1000000000000",
    "999x999999T, 9223372036854775807",
  })
  void asWritten(String text, long parameters) {
    assertThat(ModelSize.parse(text)).contains(parameters);
    assertThat(text).matches(ModelSize.FORM);
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "B", "7 B", "x7B", "8x", "7GB", "-7B", "7e9"})
  void whatIsNoSizeIsNone(String text) {
    assertThat(ModelSize.parse(text)).isEmpty();
    assertThat(text).doesNotMatch(ModelSize.FORM);
  }
}
