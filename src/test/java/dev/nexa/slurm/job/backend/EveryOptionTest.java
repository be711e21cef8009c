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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each option of each runner's release, alone: what runs differs, or the option is refused. */
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
    try {
      Plan plan =
          Plans.of(
              new ConfigFolder()
                  .with("run.yaml", config + RESOURCES + "options: " + Json.compact(options) + "\n")
                  .with("configs/clusters/mine.yaml", CLUSTER));
      Launch launch = Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
      StringBuilder all = new StringBuilder(launch.command() + " " + launch.servedModel());
      for (RunnerFile file : launch.files()) {
        all.append('\n').append(new String(file.content(), StandardCharsets.UTF_8));
      }
      return all.toString();
    } catch (ConfigException refused) {
      return "refused: " + refused.getMessage().replaceAll("(?m)^[^ ]*:\\d+:\\d+", "");
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
    try (InputStream in = RunnerOptions.class.getResourceAsStream("options/" + list + ".txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.split("\n", -1)) {
        String name = line.split("\t", 2)[0];
        if (!name.isEmpty() && !line.startsWith("#") && !name.endsWith(".*")) {
          names.add(name.startsWith("--") ? name.substring(2) : name);
        }
      }
    }
    assertThat(names).hasSizeGreaterThan(10);
    return names;
  }
}
