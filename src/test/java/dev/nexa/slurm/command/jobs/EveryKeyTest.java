package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigSlots;
import dev.nexa.slurm.job.config.ConfigSlots.Slot;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.RenderRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * No key of a run's config is dropped in silence. Each key is changed alone, in a run of each kind:
 * what runs differs, or the price does, or what is sent about the run; or it is refused; or a note
 * names it; or docs/run-config.md says that it is "for reports".
 *
 * <p>Keys below a section are tried in every third kind of run, but each kind's own section wholly.
 */
@Tag("long")
class EveryKeyTest {
  private static final String COMMON =
      ",\"estimate\":{\"tokens\":\"1B\"},\"resources\":{\"time\":\"1h\",\"memory\":\"16G\",\"gpus_per_node\":2}}";
  private static final String CPU = ",\"resources\":{\"time\":\"1h\",\"memory\":\"16G\"}}";
  private static final String TRAIN =
      "{\"stage\":\"train\",\"model_name\":\"llama-7b\",\"dataset_path\":\"/d\",\"batch_size\":4,"
          + "\"max_length\":512,\"backend\":";
  private static final String PROGRAM = ",\"entrypoint\":{\"script\":\"main.py\"}";
  private static final String BARE = ",\"entrypoint\":{\"script\":\"main.py\",\"config\":false}";
  private static final String DATA = "{\"stage\":\"data\",\"backend\":\"data\",\"data\":{";
  private static final String COLUMNS = "\"input\":[\"/i\"],\"columns\":{\"text\":\"text\"},";

  private static final Map<String, String> RUNS = new LinkedHashMap<>();

  static {
    RUNS.put("shell", TRAIN + "\"shell\",\"run\":\"true\"" + COMMON);
    RUNS.put("shell alone", "{\"stage\":\"data\",\"backend\":\"shell\",\"run\":\"true\"" + CPU);
    RUNS.put("python", TRAIN + "\"python\"" + PROGRAM + COMMON);
    RUNS.put("python alone", TRAIN + "\"python\"" + PROGRAM + CPU);
    RUNS.put("python without a file", TRAIN + "\"python\"" + BARE + COMMON);
    RUNS.put(
        "sweep",
        TRAIN
            + "\"python\""
            + PROGRAM
            + ",\"bf16\":true,\"sweep\":{\"lr\":[1,2],\"seed\":[1,2]}"
            + COMMON);
    RUNS.put("array", TRAIN + "\"python\"" + PROGRAM + ",\"array\":{\"shards\":4}" + COMMON);
    RUNS.put("hf", TRAIN + "\"hf\",\"bf16\":true,\"adapter\":\"lora\"" + COMMON);
    RUNS.put("hf alone", TRAIN + "\"hf\"" + CPU);
    RUNS.put("hf distils", TRAIN + "\"hf\",\"use_kd\":true,\"teacher_model\":\"m-7b\"" + COMMON);
    RUNS.put(
        "hf with options", TRAIN + "\"hf\",\"options\":{\"learning_rate\":1,\"seed\":1}" + COMMON);
    RUNS.put(
        "axolotl",
        TRAIN
            + "\"axolotl\",\"bf16\":true"
            + COMMON.replace("\"tokens\":\"1B\"", "\"examples\":\"1M\""));
    RUNS.put("axolotl distils", TRAIN + "\"ax\",\"use_kd\":true" + COMMON);
    RUNS.put(
        "axolotl fsdp", TRAIN + "\"axolotl\",\"strategy\":\"fsdp\",\"adapter\":\"lora\"" + COMMON);
    RUNS.put("axolotl zero3", TRAIN + "\"axolotl\",\"strategy\":\"zero3\"" + COMMON);
    RUNS.put("accelerate", TRAIN + "\"accelerate\"" + COMMON);
    RUNS.put("accelerate fsdp", TRAIN + "\"accelerate\",\"strategy\":\"fsdp\"" + COMMON);
    RUNS.put(
        "accelerate zero3", TRAIN + "\"acc\",\"strategy\":\"zero3\",\"offload\":\"nvme\"" + COMMON);
    RUNS.put("accelerate program", TRAIN + "\"accelerate\",\"strategy\":\"fsdp\"" + BARE + COMMON);
    RUNS.put(
        "serve", "{\"stage\":\"serve\",\"backend\":\"vllm\",\"model_name\":\"llama-7b\"" + COMMON);
    RUNS.put(
        "batch",
        "{\"stage\":\"generate\",\"backend\":\"vllm\",\"model_name\":\"llama-7b\",\"options\":{"
            + "\"input_file\":\"/i\",\"output_file\":\"/o\"}"
            + COMMON);
    RUNS.put(
        "generate",
        "{\"stage\":\"generate\",\"backend\":\"vllm\",\"model_name\":\"llama-7b\",\"data\":{"
            + "\"generate\":{\"requests\":[\"/r\"]}}"
            + COMMON);
    RUNS.put(
        "lm_eval",
        "{\"stage\":\"eval\",\"backend\":\"lm_eval\",\"model_name\":\"llama-7b\",\"options\":{"
            + "\"tasks\":[\"t\"]}"
            + COMMON);
    RUNS.put("prepare", DATA + "\"prepare\":{" + COLUMNS + "\"text\":[\"text\"]}}" + CPU);
    RUNS.put(
        "filter",
        DATA
            + "\"filter\":{"
            + COLUMNS
            + "\"rules\":[{\"column\":\"text\",\"min_words\":2}]}}"
            + CPU);
    RUNS.put("collect", DATA + "\"collect\":{\"requests\":[\"/r\"],\"answers\":[\"/a\"]}}" + CPU);
    RUNS.put("judge", DATA + "\"judge\":{\"input\":[\"/i\"],\"model\":\"m\"}}" + CPU);
    RUNS.put("score", DATA + "\"score\":{\"requests\":[\"/r\"],\"answers\":[\"/a\"]}}" + CPU);
    RUNS.put(
        "gate",
        DATA
            + "\"gate\":{\"candidate\":\"/c\",\"baseline\":\"/b\",\"rules\":[{\"metric\":\"m\",\"no_worse\":\"regression\"}]}}"
            + CPU);
    RUNS.put(
        "sync",
        "{\"stage\":\"sync\",\"backend\":\"sync\",\"sync\":{\"from\":\"/d/f\",\"to\":\"s3://lab/x\"}"
            + CPU);
  }

  private static final String CLUSTER =
      "{\"gpu_type\":\"h100\",\"price_book\":\"mine\",\"storage\":{\"scratch\":\"/s\",\"durable\":\"/d\",\"shared\":\"/h\"}}";
  private static final String PRICES =
      "{\"currency\":\"USD\",\"as_of\":\"2026-01-01\",\"gpu_hour\":{\"h100\":{\"price\":1,\"source\":\"s\"}},"
          + "\"cpu_hour\":{\"price\":1,\"source\":\"s\"},\"memory_gib_hour\":{\"price\":1,\"source\":\"s\"}}";

  /** Of a key that nothing reads, more values are not read either. */
  private static final int ENOUGH = 3;

  @TempDir Path folder;

  /** What comes of a config; only the refusal if it is refused. */
  private record Outcome(Map<String, String> effects, List<String> notes, String refusal) {}

  @BeforeEach
  void workspace() throws IOException {
    write("main.py", "");
    write("s4mple", "");
    write("configs/clusters/mine.yaml", CLUSTER);
    write("configs/prices/mine.yaml", PRICES);
  }

  @Test
  void everyRunOfTheWalkIsRight() throws IOException {
    for (Map.Entry<String, String> run : RUNS.entrySet()) {
      assertThat(outcome(Json.parseObject(run.getValue())).refusal()).as(run.getKey()).isEmpty();
    }
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS) // on a slow and busy machine it takes a quarter of it
  void noKeyIsDroppedInSilence() throws IOException {
    List<String> dropped = new ArrayList<>();
    Set<String> estimated = new TreeSet<>();
    Set<String> read = new TreeSet<>();
    String page = Files.readString(Path.of("docs/run-config.md"));
    int number = 0;
    for (Map.Entry<String, String> run : RUNS.entrySet()) {
      JsonObject base = Json.parseObject(run.getValue());
      Outcome before = outcome(base);
      for (Slot slot : ConfigSlots.of("run")) {
        boolean often =
            !slot.path().contains(".")
                || slot.path().startsWith("estimate.")
                || slot.path().startsWith("data.")
                || slot.path().startsWith("sync.");
        if (isOf(slot, base) && (often || number++ % 3 == 0)) {
          Optional<Object> silent = silent(slot, run.getValue(), before);
          if (slot.path().startsWith("estimate.")) {
            estimated.add(slot.path());
            read.addAll(silent.isPresent() ? Set.of() : Set.of(slot.path()));
          } else if (silent.isPresent() && !isForReports(slot, page)) {
            dropped.add(run.getKey() + ": " + slot.path() + ": " + silent.get());
          }
        }
      }
    }
    assertThat(dropped).isEmpty();
    // The page says that an estimate reads those that its kind of run needs.
    assertThat(read).isEqualTo(estimated).hasSizeGreaterThan(10);
  }

  /**
   * Sections that only one kind of run may have are tried there; options have a walk of their own.
   */
  private static boolean isOf(Slot slot, JsonObject base) {
    String[] path = slot.path().split("[.\\[]", 3);
    return switch (path[0]) {
      case "data" ->
          path.length > 1
              && base.optionalObject("data").isPresent()
              && base.object("data").members().containsKey(path[1]);
      case "sync", "sweep", "array" -> base.members().containsKey(path[0]);
      case "options" -> false;
      default -> true;
    };
  }

  /**
   * Returns a value that is taken and changes nothing, if no value of the key changes anything. The
   * only value that is taken is what runs without the key, too.
   */
  private Optional<Object> silent(Slot slot, String run, Outcome before) throws IOException {
    Optional<Object> silent = Optional.empty();
    int taken = 0;
    for (Object value : slot.values()) {
      Outcome after = outcome(slot.in(Json.parseObject(run), value));
      if (after.refusal().isEmpty()) {
        boolean noted =
            after.notes().stream()
                .anyMatch(note -> !before.notes().contains(note) && note.contains(slot.key()));
        if (noted || !after.effects().equals(before.effects())) {
          return Optional.empty();
        }
        silent = Optional.of(value);
        if (++taken == ENOUGH) {
          break;
        }
      }
    }
    return taken < 2 ? Optional.empty() : silent;
  }

  private static boolean isForReports(Slot slot, String page) {
    String path = slot.path().replace(" (name)", "").replace(".*", ".NAME");
    for (String name : List.of(path.replace("[]", ".0"), path.replace("[]", ""))) {
      for (String key = name; !key.isEmpty(); key = parent(key)) {
        for (String section : page.split("\n#+ ", -1)) {
          if (section.startsWith("`" + key + "`\n") && section.contains("for reports")) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static String parent(String key) {
    return key.substring(0, Math.max(0, key.lastIndexOf('.')));
  }

  private Outcome outcome(JsonObject config) throws IOException {
    write("run.yaml", Json.pretty(config));
    Context context = new Context(folder, Map.of("PATH", "/none"));
    Optional<String> cluster =
        config.members().containsKey("cluster") ? Optional.empty() : Optional.of("mine");
    RenderRun.@Nullable Rendered rendered;
    try {
      rendered =
          new RenderRun(context)
              .render(
                  new Prepared.Request(folder.resolve("run.yaml").toString(), List.of(), cluster));
    } catch (NexaException refused) {
      return new Outcome(Map.of(), List.of(), String.valueOf(refused.getMessage()));
    }
    Prepared prepared = rendered.prepared();
    Map<String, String> effects = new TreeMap<>();
    effects.put("script", rendered.script().text());
    for (RunnerFile file : rendered.script().files()) {
      effects.put(file.name(), file.digest());
    }
    JsonObject estimate = Json.parseObject(Json.compact(prepared.estimateFile().json()));
    JsonObject price = new JsonObject();
    estimate
        .members()
        .forEach(
            (key, value) -> {
              // It is a digest of the config itself, so that it always differs.
              if (!key.equals("config_digest")) {
                price.with(key, value);
              }
            });
    effects.put("estimate", price.toString());
    effects.put("served", prepared.launch().servedModel().toString());
    effects.put("serving", prepared.plan().inputs().serving().toString());
    effects.put("channels", prepared.plan().supervision().channels().toString());
    return new Outcome(effects, prepared.plan().notes(), "");
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
