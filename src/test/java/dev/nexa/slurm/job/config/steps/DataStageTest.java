package dev.nexa.slurm.job.config.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a data stage's config may not say, each with its place; and what its job runs. */
class DataStageTest {
  private static final String STAGE =
      "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G}\n";
  private static final String PREPARE =
      "input: [/raw], columns: {id: integer, text: text}, text: [text]";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal = new Terminal(folder);
  }

  private String refused(String config) {
    terminal.file("run.yaml", config);
    Terminal.Screen screen = terminal.type("render", "run.yaml", "--cluster", "local");
    assertThat(screen.exit()).as(screen.out()).isEqualTo(2);
    return screen.err();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "input: [raw/x.jsonl], columns: {text: text}, text: [text] | data.prepare.input: expected an absolute path",
        "input: [/raw], columns: {text: text}, text: [txt] | data.prepare.text: there is no column 'txt' in columns (did you mean 'text'?)",
        "input: [/raw], columns: {text: integer}, text: [text] | data.prepare.text: the column 'text' is integer, not text",
        "input: [/raw], columns: {text: string}, text: [text] | expected one of text, text?",
        "parts: true, from_parts: [/parts] | data.prepare.from_parts: belongs to a later stage than parts: true",
        "parts: true, near_duplicates: true, clusters: [/c] | data.prepare.clusters: belongs to a later stage than parts: true",
        "parts: true, near_duplicates: true, signatures: true | data.prepare.signatures: belongs to a later stage",
        "sample: {share: 0.5, rows: 3} | data.prepare.sample: needs either share or rows",
        "sample: {share: 1.5} | data.prepare.sample.share: expected a number from 0 to 1, got 1.5",
        "split: {train: 0.5, test: 0.4} | data.prepare.split: the shares add up to 0.9, expected 1",
        "split: {rejects: 1} | data.prepare.split.rejects: is the name of other files",
        "min_chars: 5, max_chars: 4 | data.prepare.max_chars: is less than min_chars",
        "requests: {model: m, prompt: '{txt}'} | data.prepare.requests.prompt: there is no column 'txt'",
        "exact_duplicates: false, requests: {model: m, prompt: '{text}'} | data.prepare.requests: each request needs an id of its own",
      })
  void aWrongKeyIsNamed(String keys, String message) {
    String all = keys.startsWith("input") ? keys : PREPARE + ", " + keys;

    assertThat(refused(STAGE + "data: {prepare: {" + all + "}}\n")).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "near_duplicates: true | data.prepare.near_duplicates: compares all rows with each other",
        "sample: {rows: 3} | data.prepare.sample.rows: compares all rows",
      })
  void aStepThatNeedsOneTaskIsRefusedForAnArray(String keys, String message) {
    assertThat(
            refused(
                STAGE + "array: {shards: 2}\ndata: {prepare: {" + PREPARE + ", " + keys + "}}\n"))
        .contains(message);
  }

  @Test
  void theSectionAndTheBackendGoTogether() {
    assertThat(refused(STAGE))
        .contains("data: missing; backend data does one of prepare, generate, collect");
    assertThat(refused(STAGE + "data: {}\n"))
        .contains("expected exactly one of prepare, generate, collect");
    assertThat(
            refused(
                STAGE.replace("backend: data", "backend: shell")
                    + "run: x\ndata: {prepare: {"
                    + PREPARE
                    + "}}\n"))
        .contains("data: needs backend: data");
    assertThat(refused(STAGE + "run: x\noptions: {a: 1}\ndata: {prepare: {" + PREPARE + "}}\n"))
        .contains("run: backend data does not read it", "options: backend data does not read it");
    assertThat(
            refused(
                STAGE.replace("time", "nodes: 2, time") + "data: {prepare: {" + PREPARE + "}}\n"))
        .contains("resources.nodes: a data stage works on one node");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rules: [{column: text}] | the rule has no condition",
        "rules: [{column: txt, min: 1}] | there is no column 'txt'",
        "rules: [{column: text, min: 1}] | the column 'text' is text, not number",
        "agreement: {columns: [score], max_difference: 1} | needs two judges or more",
        "best_of: {key: text, by: text} | the column 'text' is text, not number",
      })
  void aWrongFilterIsNamed(String keys, String message) {
    String step = "input: [/raw], columns: {text: text, score: number}, " + keys;

    assertThat(refused(STAGE + "data: {filter: {" + step + "}}\n")).contains(message);
  }

  @Test
  void thePathsAreWordsOfTheCommand() {
    terminal.file(
        "run.yaml",
        STAGE
            + "data: {prepare: {input: ['${shared}/a b/*.jsonl', /it's], columns: {text: text}, text: [text],"
            + " decontaminate: {against: ['${durable}/eval'], ngram: 8}}}\n");

    Terminal.Screen screen = terminal.type("render", "run.yaml", "--cluster", "local", "--files");

    assertThat(screen.err()).doesNotContain("nexa-slurm:");
    assertThat(screen.out())
        .contains(
            "data prepare --settings \"$NEXA_RUN_DIR\"/runner/data.json --input \"$NEXA_SHARED\"'/a b/*.jsonl'"
                + " --input '/it'\\''s' --against \"$NEXA_DURABLE\"/eval --output \"$NEXA_OUTPUT\"")
        .contains("\"ngram\": 8")
        .doesNotContain("\"against\"");
  }

  private static final String GENERATE =
      "requests: [/prompts], url: https://api.test/v1, model: m, max_input_tokens: 1e6, max_output_tokens: 5e5";

  @Test
  void aWrongValueIsNotAlsoReportedAsMissing() {
    assertThat(refused(STAGE + "data: {generate: {requests: [/p], url: 'ftp://h/v1'}}\n"))
        .contains("data.generate.url: expected a URL such as")
        .contains("data.generate.model: missing")
        .doesNotContain("data.generate.url: missing");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "requests: [/p] | data.generate.url: missing; write the API's URL",
        "requests: [/p], url: https://h/v1 | data.generate.model: missing; with url it is needed",
        "requests: [/p], url: https://h/v1 | data.generate.max_input_tokens: missing; with url",
        "requests: [/p], url: https://h/v1 | data.generate.max_output_tokens: missing; with url",
        "requests: [/p], url: 'ftp://h/v1' | data.generate.url: expected a URL such as",
        "requests: [/p], url: 'https://user:pw@h/v1' | data.generate.url: looks like an address with a password",
        "api_key: sk-x | data.generate.api_key: expected the name of an environment variable, such as TEACHER_KEY; the key",
        "max_failed: 2 | data.generate.max_failed: expected a share from 0 to 1",
        "cache: answers | data.generate.cache: expected an absolute path or none, got 'answers'",
        "concurrency: 0 | data.generate.concurrency: expected a whole number from 1 to 1024",
        "logprobs: 101 | data.generate.logprobs: expected a whole number from 1 to 100",
        "logprobs: 0 | data.generate.logprobs: expected a whole number from 1 to 100",
      })
  void aWrongKeyOfGenerateIsNamed(String keys, String message) {
    String all = keys.startsWith("requests") ? keys : GENERATE + ", " + keys;

    assertThat(refused(STAGE + "data: {generate: {" + all + "}}\n")).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "max_input_tokens: 1e6 | max_input_tokens: 1.5 | data.generate.max_input_tokens: expected a whole number of tokens, got 1.5",
        "max_input_tokens: 1e6 | max_input_tokens: -1 | data.generate.max_input_tokens: expected a whole number",
        "max_output_tokens: 5e5 | max_output_tokens: 1 | data.generate.max_output_tokens: each of the 2 tasks gets an equal share",
      })
  void aLimitOfTokensIsWholeAndEnoughForEachTask(String key, String wrong, String message) {
    assertThat(
            refused(
                STAGE
                    + "array: {shards: 2}\ndata: {generate: {"
                    + GENERATE.replace(key, wrong)
                    + "}}\n"))
        .contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "options: {max_logprobs: 50} | options.max_logprobs: it follows from data.generate.logprobs",
        "options: {max-logprobs: 50} | options.max-logprobs: it follows from data.generate.logprobs",
        "options: {logprobs_mode: raw_logits} | options.logprobs_mode: data.generate.logprobs needs raw_logprobs",
        "lora_adapters: {mine: /a} | data.generate.model: missing; with logprobs and lora_adapters",
      })
  void whatDoesNotGoWithLogProbabilitiesIsNamed(String line, String message) {
    String vllm =
        "stage: generate\nbackend: vllm\nmodel_name: m-7b\nresources: {time: 5m, gpus_per_node: 1}\n"
            + "data: {generate: {requests: [/conversations], logprobs: 20}}\n";

    assertThat(refused(vllm + line + "\n")).contains(message);
  }

  @Test
  void generateNeedsBackendDataOrVllm() {
    String shell = STAGE.replace("backend: data", "backend: shell") + "run: x\n";
    assertThat(refused(shell + "data: {generate: {" + GENERATE + "}}\n"))
        .contains("data: generate needs backend: data with a url, or backend: vllm without");
    String vllm =
        "stage: generate\nbackend: vllm\nmodel_name: m-7b\nresources: {time: 5m, gpus_per_node: 1}\n";
    assertThat(refused(vllm + "data: {generate: {" + GENERATE + "}}\n"))
        .contains("data.generate.url: backend vllm starts its own server");
    assertThat(
            refused(vllm + "options: {input_file: /x}\ndata: {generate: {requests: [/prompts]}}\n"))
        .contains("options.input_file: vllm run-batch reads it");
    assertThat(
            refused(
                vllm.replace("stage: generate", "stage: serve")
                    + "data: {generate: {requests: [/prompts]}}\n"))
        .contains("stage: serve runs a server without an end");
  }
}
