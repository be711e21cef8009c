package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each option of each runner's release, alone: what runs differs, or the option is refused. */
@Tag("long")
class EveryOptionTest {
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";
  private static final String TRAIN =
      "stage: train\nmodel_name: m-7b\ndataset_path: /data\nbackend: ";
  private static final String RESOURCES = "resources: {gpus_per_node: 2, time: 1h}\n";

  @ParameterizedTest
  @CsvSource({
    "trl-sft, hf, ''",
    "trl-distill, hf, ''",
    "trl-sft, accelerate, ''",
    "accelerate, accelerate, accelerate",
    "axolotl, axolotl, ''",
    "lm-eval-config, lm_eval, ''",
    "vllm-serve, vllm, ''",
    "vllm-run-batch, vllm, ''",
  })
  void noOptionIsDroppedInSilence(String list, String backend, String section) throws IOException {
    JsonObject options = base(list);
    String before = launched(list, backend, options);
    assertThat(before).doesNotStartWith("refused");
    List<String> dropped = new ArrayList<>();
    for (String name : names(list)) {
      JsonObject with = with(options, section.isEmpty() ? name : section + "." + name, "m4rker");
      if (launched(list, backend, with).equals(before)) {
        dropped.add(name);
      }
    }
    assertThat(dropped).isEmpty();
  }

  /** A value that the release cannot read costs a place in the queue and GPU time. */
  @ParameterizedTest
  @CsvSource({
    "trl-sft, hf, ''",
    "trl-distill, hf, ''",
    "accelerate, accelerate, accelerate",
    "axolotl, axolotl, ''"
  })
  void numbersAndNamesOfTheReleaseAreChecked(String list, String backend, String section)
      throws IOException {
    List<String> wrong = new ArrayList<>();
    int checked = 0;
    for (String[] option : options(list)) {
      List<String> good = new ArrayList<>(List.of("auto", "${stages.x.output}"));
      if (option.length > 2) {
        good.addAll(List.of(option[2].split(" ", -1)));
      } else if (List.of("int", "float", "float|str").contains(option[1])) {
        good.addAll(List.of("1", "1e-5", "2E-04", "0.5", "-1", ".5", "inf", "1_000"));
      } else {
        continue;
      }
      checked++;
      String name = section.isEmpty() ? option[0] : section + "." + option[0];
      for (String value : List.of("b0gus", "3 4", "1e", "TRANSFORMER_BASE")) {
        if (!launched(list, backend, with(base(list), name, value)).startsWith("refused")) {
          wrong.add(name + ": " + value);
        }
      }
      for (String value : good) {
        String launched = launched(list, backend, with(base(list), name, value));
        if (launched.contains("got '" + value + "'") && launched.contains(" for ")) {
          wrong.add(name + ": " + launched);
        }
      }
    }
    assertThat(checked).isGreaterThan(10);
    assertThat(wrong).isEmpty();
  }

  /** The same in a runner's own file. */
  @ParameterizedTest
  @CsvSource({
    "axolotl, 'adapter: lorra', 'expected one of lora, qlora, llama-adapter, mora for axolotl'",
    "axolotl, 'optimizer: bogus', 'expected one of optimi_adamw, '",
    "axolotl, 'learning_rate: abc', 'expected a number for axolotl'",
    "axolotl, 'learning_rate: 1e-5', ''",
    "axolotl, 'optimizer: adamw_bnb_8bit', ''",
    "accelerate, 'fsdp_config: {fsdp_auto_wrap_policy: TRANSFORMER_BASE}', 'TRANSFORMER_BASED_WRAP'"
  })
  void valuesOfAnOptionsFileAreChecked(String backend, String line, String expected) {
    String launched =
        launched(
            new ConfigFolder()
                .with("own.yaml", line + "\n")
                .with("run.yaml", TRAIN + backend + "\n" + RESOURCES + "options_file: own.yaml\n"));

    if (expected.isEmpty()) {
      assertThat(launched).doesNotStartWith("refused");
    } else {
      assertThat(launched).startsWith("refused").contains("own.yaml", expected);
    }
  }

  /** vLLM reads an option with dashes and with underscores, and so do we, in all that we make. */
  @ParameterizedTest
  @CsvSource({"vllm-serve", "vllm-run-batch"})
  void dashesAreUnderscores(String list) throws IOException {
    List<String> differing = new ArrayList<>();
    for (String name : names(list)) {
      String other = name.replace('-', '_');
      if (name.startsWith("-")) {
        assertThat(launched(list, "vllm", with(base(list), name, 2))).contains("is a short name");
        continue;
      }
      for (Object value : List.of("m4rker", 2, true, List.of("a", "b"))) {
        JsonObject base = new JsonObject();
        base(list).members().forEach((key, old) -> base.with(key.equals(other) ? name : key, old));
        String dashes = launched(list, "vllm", with(base, name, value));
        String underscores = launched(list, "vllm", with(base(list), other, value));
        if (!underscores.replace('_', '-').equals(dashes.replace('_', '-'))) {
          differing.add(name + ": " + dashes + "\n" + underscores);
        }
      }
    }
    assertThat(differing).isEmpty();
    JsonObject twice = with(with(base(list), "max-num-seqs", 2), "max_num_seqs", 3);
    assertThat(launched(list, "vllm", twice)).contains("options.max-num-seqs: is written twice");
  }

  private static JsonObject base(String list) {
    return switch (list) {
      case "lm-eval-config" -> new JsonObject().with("tasks", List.of("t"));
      case "vllm-run-batch" -> new JsonObject().with("input_file", "/i").with("output_file", "/o");
      default -> new JsonObject();
    };
  }

  /** Returns everything of a launch; or why it is refused, without the place. */
  private static String launched(String list, String backend, JsonObject options) {
    String config =
        switch (list) {
          case "vllm-serve" -> "stage: serve\nmodel_name: m-7b\nbackend: vllm\n";
          case "vllm-run-batch" -> "stage: generate\nmodel_name: m-7b\nbackend: vllm\n";
          case "trl-distill" -> TRAIN + backend + "\nuse_kd: true\nteacher_model: t-7b\n";
          default -> TRAIN + backend + "\n";
        };
    return launched(
        new ConfigFolder()
            .with("run.yaml", config + RESOURCES + "options: " + Json.compact(options) + "\n"));
  }

  private static String launched(ConfigFolder folder) {
    try {
      Plan plan = Plans.of(folder.with("configs/clusters/mine.yaml", CLUSTER));
      Launch launch = Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
      StringBuilder all = new StringBuilder(launch.command() + " " + launch.servedModel());
      for (RunnerFile file : launch.files()) {
        all.append('\n').append(new String(file.content(), StandardCharsets.UTF_8));
      }
      return all.toString();
    } catch (ConfigException refused) {
      return "refused: " + refused.getMessage().replaceAll("(?m):\\d+:\\d+", "");
    }
  }

  /** Returns a copy with an option, in the sections that its name has. */
  private static JsonObject with(JsonObject old, String path, Object value) {
    JsonObject copy = new JsonObject();
    old.members().forEach(copy::with);
    int dot = path.indexOf('.');
    return dot < 0
        ? copy.with(path, value)
        : copy.with(
            path.substring(0, dot),
            with(
                old.optionalObject(path.substring(0, dot)).orElseGet(JsonObject::new),
                path.substring(dot + 1),
                value));
  }

  private static List<String> names(String list) throws IOException {
    List<String> names = new ArrayList<>();
    for (String[] option : options(list)) {
      names.add(option[0].startsWith("--") ? option[0].substring(2) : option[0]);
    }
    assertThat(names).hasSizeGreaterThan(10);
    return names;
  }

  /** Returns the columns of a list's lines. */
  private static List<String[]> options(String list) throws IOException {
    List<String[]> options = new ArrayList<>();
    try (InputStream in = RunnerOptions.class.getResourceAsStream("options/" + list + ".txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.split("\n", -1)) {
        String[] option = line.split("\t", 3);
        if (!line.isEmpty() && !line.startsWith("#") && !option[0].endsWith(".*")) {
          options.add(option);
        }
      }
    }
    return options;
  }
}
