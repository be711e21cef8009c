package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/** The section {@code data.generate}. */
final class GenerateKeys {
  /** The backend that starts a server of its own for the requests. */
  static final String OWN_TEACHER = "vllm";

  /** vLLM's mode whose values are log-probabilities that no temperature has changed. */
  private static final String RAW = "raw_logprobs";

  private static final List<String> TOKENS = List.of("max_input_tokens", "max_output_tokens");

  /** A server may return more; files of rows grow with this number. */
  private static final int MOST_LOGPROBS = 100;

  private static final ValueType URL =
      ValueType.text(
          "a URL such as https://HOST/v1, without user, query and '#'",
          "https?://[^\\s/?#@]+(/[^\\s?#@]*)?");

  private static final Section KEYS =
      section(
          required(
              "requests",
              listOf(ValueType.PATH),
              "The requests, in the form of OpenAI's and vLLM's batch files: .jsonl files, patterns or"
                  + " folders. With logprobs: conversations, in .parquet or .jsonl files."),
          optional(
              "logprobs",
              ValueType.integer(1, MOST_LOGPROBS),
              "Asks vLLM for log-probabilities of conversations instead of answers. For each token, the rows have"
                  + " this many most probable next tokens. axolotl's distillation trains on these rows."),
          optional(
              "url",
              URL,
              "The base URL of a server with OpenAI's HTTP interface, such as `https://HOST/v1`. Required with"
                  + " backend data. With backend vllm the job starts its own server, and this key is refused."),
          optional(
              "model",
              ValueType.TEXT,
              "The model that each request names, instead of its own. Required with url, because prices depend"
                  + " on it. With backend vllm and without lora_adapters: the run's model."),
          optional(
              "api_key",
              ValueType.TEXT,
              "The name of the environment variable with the server's key. Write the variable into env_file."),
          optional(
              "concurrency",
              ValueType.integer(1, 1024),
              "How many requests of a task wait for an answer at the same time. Default: 16; with backend vllm"
                  + " and without logprobs 256."),
          withDefault(
              "timeout",
              ValueType.LENGTH,
              "10m",
              "How long one request may take. A bare number is minutes."),
          withDefault(
              "retries",
              ValueType.integer(0, 100),
              "6",
              "How often a request is sent again after a status 408, 409, 429 or 5xx, a broken connection or a"
                  + " timeout."),
          withDefault(
              "max_failed",
              ValueType.DECIMAL_NUMBER,
              "0.05",
              "The largest share of requests that may fail for good. Above it the stage stops and fails; the"
                  + " answers that arrived are kept."),
          optional(
              "max_input_tokens",
              ValueType.COUNT,
              "The most tokens that the prompts of the whole run may have, such as `2e9`. Required with url."
                  + " Estimates and budgets count them."),
          optional(
              "max_output_tokens",
              ValueType.COUNT,
              "The most tokens that the answers of the whole run may have. Required with url. Estimates and"
                  + " budgets count them."),
          optional(
              "cache",
              ValueType.PATH,
              "The folder that keeps paid answers for all runs, or `none`. Default: ${durable}/answers. Backend"
                  + " vllm has no such folder."));

  static final DataStep STEP =
      new DataStep(
          "generate",
          "Sends requests to a server with OpenAI's HTTP interface and keeps each answer as it arrives.",
          KEYS,
          List.of(
              new DataStep.PathKey("", "requests", "--requests"),
              new DataStep.PathKey("", "cache", "--cache", "none")),
          GenerateKeys::check);

  private GenerateKeys() {}

  private static void check(Values step, int tasks) {
    CollectKeys.share(step, "max_failed");
    if (!step.optionalText("api_key").orElse("KEY").matches("[A-Za-z_][A-Za-z0-9_]{0,127}")) {
      // The value is not shown: it may be the key itself.
      String message =
          "expected the name of an environment variable, such as TEACHER_KEY; the key itself"
              + " belongs into env_file";
      step.report("api_key", message);
    }
    for (String key : TOKENS) {
      Optional<BigDecimal> most = step.optionalDecimal(key);
      if (most.filter(GenerateKeys::isFraction).isPresent()) {
        String message = "expected a whole number of tokens, got " + most.get().toPlainString();
        step.report(key, message);
      } else if (most.filter(it -> it.compareTo(BigDecimal.valueOf(tasks)) < 0).isPresent()) {
        String message = "each of the %1$s tasks gets an equal share, so at least %1$s are needed";
        step.report(key, message.formatted(tasks));
      }
    }
  }

  static boolean isFraction(BigDecimal value) {
    return value.stripTrailingZeros().scale() > 0;
  }

  /** Adds the problems of a step that asks a server behind a URL. */
  static void checkApi(Values step) {
    if (isMissing(step, "url")) {
      String message =
          "missing; write the API's URL, or write backend: vllm to start a server in the job";
      step.report("url", message);
    }
    if (isMissing(step, "model")) {
      step.report("model", "missing; with url it is needed: prices depend on it");
    }
    for (String key : TOKENS) {
      if (isMissing(step, key)) {
        step.report(
            key, "missing; with url it is needed: estimates and budgets count these tokens");
      }
    }
  }

  /** Returns whether the key is not written. A wrong value is a problem already. */
  private static boolean isMissing(Values step, String key) {
    return !step.has(key) && !step.isWrong(key);
  }

  /** Adds the problems of a step whose job starts the server. */
  static void checkOwnTeacher(Values step, Values run) {
    for (String key : List.of("url", "api_key", "cache")) {
      if (step.has(key)) {
        step.report(
            key, "backend vllm starts its own server; leave it out, or write backend: data");
      }
    }
    if (run.optionalText("stage").orElse("").equals("serve")) {
      run.report("stage", "serve runs a server without an end; write generate");
    }
    Values options = run.section("options");
    if (step.has("logprobs")) {
      checkLogprobs(step, run, options);
    }
    for (String option : List.of("input_file", "output_file", "input-file", "output-file")) {
      if (options.has(option)) {
        String message =
            "vllm run-batch reads it; with data.generate the files are data.generate.requests and"
                + " ${output}";
        run.report("options." + option, message);
      }
    }
  }

  /** Adds the problems of a server of the job's own that returns log-probabilities. */
  private static void checkLogprobs(Values step, Values run, Values options) {
    if (run.has("lora_adapters") && !step.has("model")) {
      String message =
          "missing; with logprobs and lora_adapters, write the name of an adapter or the model: a"
              + " conversation names no model";
      step.report("model", message);
    }
    for (String option : List.of("logprobs_mode", "logprobs-mode")) {
      if (!options.optional(option, Object.class).map(Object::toString).orElse(RAW).equals(RAW)) {
        String message =
            "data.generate.logprobs needs " + RAW + ", which is the default; leave the option out";
        run.report("options." + option, message);
      }
    }
    for (String option : List.of("max_logprobs", "max-logprobs")) {
      if (options.has(option)) {
        String message = "it follows from data.generate.logprobs; leave the option out";
        run.report("options." + option, message);
      }
    }
  }
}
