package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Sandbox;
import dev.nexa.slurm.command.SbatchLines;
import dev.nexa.slurm.job.config.ConfigSlots;
import dev.nexa.slurm.job.config.ConfigSlots.Slot;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.HostileText;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.RenderRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever text stands in whatever place of whatever file: it is refused with its line and key, or
 * it arrives as it is. Each place is tried with a harmless text and with hostile ones; the plan,
 * the runner's files, sbatch's options and what the script calls must differ by that text alone.
 *
 * <p>{@code -Dhostile=all} tries each place with every runner that takes it, instead of one, and
 * more texts.
 */
@Tag("full")
class HostileConfigsTest {
  private static final int LARGE = 100_000;
  private static final boolean ALL = SuiteSize.FULL;
  private static final String MARKER = ConfigSlots.MARKER;
  private static final String WANDB_TAGS = "env WANDB_TAGS";
  private static final String DEFAULTED = "${env:CANARY:-$(touch canary)}";
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Keys of Nexa_Compute's whose text is cut into words as a shell does it. */
  private static final Set<String> CUT = Set.of("base_args", "overrides", "extra_args");

  /** A run of each kind; what they have in common is added. */
  private static final Map<String, String> RUNS = new LinkedHashMap<>();

  private static final String COMMON =
      "\"cluster\":\"mine\",\"resources\":{\"time\":\"1h\",\"memory\":\"1G\"";

  static {
    RUNS.put(
        "shell",
        "{\"stage\":\"data\",\"backend\":\"shell\",\"run\":\"true\",\"env\":{\"A\":\"b\"},"
            + COMMON
            + "}}");
    RUNS.put(
        "python",
        "{\"stage\":\"train\",\"backend\":\"python\",\"model_name\":\"llama-7b\",\"adapter\":\"lora\","
            + "\"strategy\":\"fsdp\",\"entrypoint\":{\"script\":\"main.py\"},\"requeues\":1,"
            + "\"software\":{\"modules\":[\"cuda\"],\"venv\":\"/venv\"},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
    RUNS.put(
        "module",
        "{\"stage\":\"eval\",\"backend\":\"python\",\"entrypoint\":{\"module\":\"m\",\"args\":[\"x\"]},"
            + COMMON
            + ",\"nodes\":2,\"gpus_per_node\":2}}");
    RUNS.put(
        "container",
        "{\"stage\":\"eval\",\"backend\":\"python\",\"entrypoint\":{\"module\":\"m\"},"
            + "\"software\":{\"container\":\"/image.sif\"},"
            + COMMON
            + "}}");
    RUNS.put(
        "pyxis",
        "{\"stage\":\"eval\",\"backend\":\"python\",\"entrypoint\":{\"module\":\"m\"},"
            + "\"software\":{\"container\":\"/image.sqsh\",\"container_runtime\":\"pyxis\"},"
            + COMMON
            + "}}");
    RUNS.put(
        "sweep",
        "{\"stage\":\"train\",\"backend\":\"python\",\"entrypoint\":{\"script\":\"main.py\"},"
            + "\"sweep\":{\"seed\":[1]},"
            + COMMON
            + "}}");
    RUNS.put(
        "points",
        "{\"stage\":\"train\",\"backend\":\"python\",\"entrypoint\":{\"script\":\"main.py\"},"
            + "\"adapter\":\"lora\",\"strategy\":\"zero3\","
            + "\"sweep\":{\"method\":\"list\",\"points\":[{\"seed\":1}]},"
            + COMMON
            + ",\"gpus_per_node\":2}}");
    RUNS.put(
        "hf",
        "{\"stage\":\"train\",\"backend\":\"hf\",\"model_name\":\"m\",\"dataset_path\":\"/d\","
            + "\"options\":{\"run_name\":\"x\"},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
    RUNS.put(
        "accelerate",
        "{\"stage\":\"train\",\"backend\":\"accelerate\",\"model_name\":\"m\",\"dataset_path\":\"/d\","
            + "\"options\":{\"run_name\":\"x\"},"
            + COMMON
            + ",\"gpus_per_node\":2}}");
    RUNS.put(
        "axolotl",
        "{\"stage\":\"train\",\"backend\":\"axolotl\",\"model_name\":\"m\",\"dataset_path\":\"/d\","
            + "\"options\":{\"wandb_project\":\"x\"},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
    RUNS.put(
        "vllm",
        "{\"stage\":\"generate\",\"backend\":\"vllm\",\"model_name\":\"m\","
            + "\"options\":{\"input_file\":\"/i\",\"output_file\":\"/o\"},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
    RUNS.put(
        "serve",
        "{\"stage\":\"serve\",\"backend\":\"vllm\",\"model_name\":\"m\","
            + "\"options\":{\"served_model_name\":\"x\"},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
    RUNS.put(
        "sync",
        "{\"stage\":\"sync\",\"backend\":\"sync\",\"sync\":{\"from\":\"/f\",\"to\":\"s3://lab/x\","
            + "\"exclude\":[\"e\"],\"include\":[\"i\"],\"bandwidth\":\"5M\",\"storage_class\":\"A\","
            + "\"endpoint\":\"https://h\"},"
            + COMMON
            + "}}");
    RUNS.put(
        "lm_eval",
        "{\"stage\":\"eval\",\"backend\":\"lm_eval\",\"model_name\":\"m\","
            + "\"options\":{\"output_path\":\"/x\",\"tasks\":[\"t\"]},"
            + COMMON
            + ",\"gpus_per_node\":1}}");
  }

  private static final String CLUSTER =
      "{\"gpu_type\":\"h100\",\"price_book\":\"mine\",\"storage\":{\"scratch\":\"/s\",\"durable\":\"/d\",\"shared\":\"/h\"}}";
  private static final String PRICES =
      "{\"currency\":\"USD\",\"as_of\":\"2026-01-01\",\"gpu_hour\":{\"h100\":{\"price\":1,\"source\":\"s\"},"
          + "\"m4rker\":{\"price\":1,\"source\":\"s\"}},"
          + "\"cpu_hour\":{\"price\":1,\"source\":\"s\"},\"memory_gib_hour\":{\"price\":1,\"source\":\"s\"},"
          + "\"shard_hour\":{\"h100\":{\"price\":1,\"source\":\"s\"}},"
          + "\"overrides\":[{\"match\":{\"cluster\":\"mine\"},"
          + "\"gpu_hour\":{\"h100\":{\"price\":1,\"source\":\"s\"}},"
          + "\"shard_hour\":{\"h100\":{\"price\":1,\"source\":\"s\"}}}]}";
  private static final String SKYPILOT =
      "{\"slurm\":{\"pricing\":{\"cpu\":1,\"memory\":1,\"accelerators\":{\"h100\":1}}}}";
  private static final String GPUS =
      "{\"as_of\":\"2026-01-01\",\"gpus\":{\"h100\":{\"memory\":\"80G\",\"source\":\"s\"}}}";
  private static final String POLICY = "{\"approval_over\":{\"amount\":100,\"currency\":\"USD\"}}";
  private static final String THEIRS =
      "{\"job\":{\"name\":\"n\",\"partition\":\"gpu\",\"nodes\":1,\"gpus_per_node\":1,\"gpu_type\":\"h100\","
          + "\"mail_user\":\"u\"},\"sweep\":{\"parameters\":{\"lr\":[1]}},\"launcher\":{\"script\":\"main.py\"}}";

  @TempDir Path folder;

  /** What a place did with all the texts. */
  private static final class Tally {
    final List<String> wrong = new ArrayList<>();
    int tried;
    int refused;
    int arrived;
    int ran;
    long slowest;
  }

  /** What came of a config: what it was rendered as, or why it was refused. */
  private record Outcome(RenderRun.@Nullable Rendered rendered, String refusal) {}

  /** A run, and the form of the marker that it takes at a place. */
  private record Taker(String run, String marker) {}

  @BeforeEach
  void workspace() throws IOException {
    write("main.py", "");
    write("configs/clusters/mine.yaml", CLUSTER);
    write("configs/prices/mine.yaml", PRICES);
    write("configs/policy.yaml", POLICY);
    write("configs/gpus.yaml", GPUS);
    for (String text : HostileText.worst(1, 20)) {
      // Some keys name a file that must be there.
      try {
        if (text.length() < 200 && !text.isEmpty() && !text.contains("/")) {
          write(text, "");
          write("x" + text, "");
        }
      } catch (IOException | InvalidPathException noName) {
        // Then it is refused.
      }
    }
    write(MARKER, "");
    write("configs/clusters/" + MARKER + ".yaml", CLUSTER);
    write("configs/prices/" + MARKER + ".yaml", PRICES);
  }

  static List<Slot> slots() {
    List<Slot> slots = new ArrayList<>();
    for (String kind : ConfigSlots.KINDS) {
      slots.addAll(ConfigSlots.of(kind));
    }
    return slots;
  }

  @Test
  @Timeout(3600)
  void everyTextInEveryPlaceIsRefusedWithItsLineOrArrivesAsItIs() throws IOException {
    Tally all = new Tally();
    List<String> never = new ArrayList<>();
    int number = 0;
    for (Slot slot : slots()) {
      List<Taker> takers = takers(slot, number++);
      if (takers.isEmpty() && !slot.markers().isEmpty()) {
        never.add(slot.toString());
      }
      for (Taker taker : takers) {
        compare(slot, taker.run(), taker.marker(), all);
      }
      refusals(slot, all);
    }
    String summary =
        slots().size()
            + " places, "
            + all.tried
            + " tried, "
            + all.refused
            + " refused, "
            + all.arrived
            + " arrived, "
            + all.ran
            + " scripts run, slowest "
            + all.slowest / 1_000_000
            + " ms\nnever taken: "
            + never
            + "\n";
    Files.writeString(
        Path.of("target", "hostile.txt"), escaped(summary + String.join("\n", all.wrong)));
    assertThat(all.wrong).isEmpty();
  }

  /**
   * The value is read as YAML, so that it may be something else than text; it is the key's alone.
   */
  @Test
  @Timeout(600)
  void everyTextBySetIsRefusedOrReachesNoOtherOption() throws IOException {
    write("run.yaml", String.valueOf(RUNS.get("shell")));
    write("theirs.yaml", THEIRS);
    List<String> wrong = new ArrayList<>();
    for (Slot slot : slots()) {
      boolean theirs = slot.kind().equals("nexa_compute");
      if (!theirs && !slot.kind().equals("run")) {
        continue;
      }
      String file = folder.resolve(theirs ? "theirs.yaml" : "run.yaml").toString();
      List<String> harmless = options(type("render", file, "--cluster=mine").out());
      assertThat(harmless).isNotEmpty();
      for (String text : drawn(slot, 3, 120)) {
        boolean name = slot.path().endsWith(" (name)");
        String path =
            slot.path().replace(" (name)", "").replace("[]", ".0").replace("*", name ? text : "A");
        String set = path + "=" + (name ? "x" : text);
        long begin = cpuTime();
        Screen screen;
        try {
          screen = type("render", file, "--cluster=mine", "--set", set);
        } catch (Error defect) {
          wrong.add("--set " + shown(set) + ": " + defect);
          continue;
        }
        checked(screen, "--set " + shown(set), cpuTime() - begin, wrong);
        if (screen.exit() == 0) {
          List<String> now = options(screen.out());
          now.removeAll(harmless);
          now.removeIf(option -> !option.matches("(?s)--(uid|wrap|chdir|output|get-user-env).*"));
          if (!now.isEmpty()) {
            wrong.add("--set " + shown(set) + ": " + now);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static List<String> options(String script) {
    return new ArrayList<>(SbatchLines.of(script));
  }

  /** Neither a defect, nor a stack trace, nor a wall of text, nor a hang. */
  private static void checked(Screen screen, String where, long nanos, List<String> wrong) {
    boolean trace = screen.err().contains("\tat ") || screen.err().contains("defect");
    if ((screen.exit() != 0 && screen.exit() != 2) || trace || nanos > SLOW_NANOS) {
      wrong.add(
          where
              + ": exit "
              + screen.exit()
              + ", "
              + nanos / 1_000_000
              + " ms: "
              + shown(screen.err()));
    } else if (screen.err().length() > 20_000) {
      wrong.add(where + ": " + screen.err().length() + " characters: " + shown(screen.err()));
    }
  }

  static List<String> files() {
    return List.of(
        "run.yaml",
        "configs/clusters/mine.yaml",
        "configs/prices/mine.yaml",
        "configs/policy.yaml",
        "configs/gpus.yaml",
        "durable/manifests/dataset_registry.yaml");
  }

  @ParameterizedTest
  @MethodSource("files")
  @Timeout(300)
  void noYamlBreaksWhatReadsIt(String file) throws IOException {
    write(
        "run.yaml",
        String.valueOf(RUNS.get("python"))
            .replace("\"requeues\"", "\"dataset\":\"m\",\"requeues\""));
    write("configs/clusters/mine.yaml", CLUSTER.replace("/d\"", folder + "/durable\""));
    write("configs/policy.yaml", POLICY.replace("}}", "},\"registered_datasets\":true}"));
    write("durable/manifests/dataset_registry.yaml", "m: {}\n");
    String good = Files.readString(folder.resolve(file));
    assertThat(type("render", folder + "/run.yaml", "--cluster=mine").exit()).isZero();
    List<String> wrong = new ArrayList<>();
    int bombs = 0;
    // One reader reads them all, so the large ones are for one file of each of two kinds.
    boolean large = ALL || List.of("run.yaml", "configs/policy.yaml").contains(file);
    for (byte[] bomb : bombs(good, large)) {
      Files.write(folder.resolve(file), bomb);
      long begin = cpuTime();
      Screen screen = type("render", folder + "/run.yaml", "--cluster=mine");
      String where =
          file
              + " bomb "
              + bombs++
              + " "
              + shown(new String(bomb, 0, Math.min(80, bomb.length), StandardCharsets.UTF_8));
      checked(screen, where, cpuTime() - begin, wrong);
      boolean told = screen.err().contains(file);
      if (screen.exit() == 0 || !told) {
        // What the registry's names hold is nobody's to check.
        if (!file.endsWith("registry.yaml") || screen.exit() != 0) {
          wrong.add(where + ": exit " + screen.exit() + " " + shown(screen.err()));
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** Files that are dear to read, or that readers of YAML read in different ways. */
  private static List<byte[]> bombs(String good, boolean large) {
    List<String> texts = new ArrayList<>();
    StringBuilder laughs = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
      laughs.append("a").append(i).append(": &a").append(i).append(" [");
      laughs.append(("*a" + (i - 1) + ", ").repeat(9)).append("x]\n");
    }
    texts.add(laughs.toString());
    texts.add("a: &a {x: 1}\nb: {<<: *a}\n");
    texts.add("<<: {stage: x}\n");
    texts.add("a: *a\n");
    texts.add("&a a: &a *a\n");
    texts.add("[".repeat(500_000));
    texts.add("a: " + "[".repeat(500_000) + "]".repeat(500_000));
    texts.add("{a: ".repeat(200_000));
    texts.add("- ".repeat(400_000) + "x");
    texts.add("? ".repeat(400_000) + "x");
    texts.add("!a ".repeat(200_000) + "x");
    texts.add("&a ".repeat(200_000) + "x");
    StringBuilder stairs = new StringBuilder();
    for (int i = 0; i < 1_300; i++) {
      stairs.append(" ".repeat(i)).append("a:\n");
    }
    texts.add(stairs.toString());
    texts.add("a: " + "x".repeat(10 << 20));
    texts.add("a: " + "x".repeat(1_000_000));
    texts.add("x".repeat(1_000_000) + ": a");
    texts.add("? " + "x".repeat(1_000_000) + "\n: a");
    texts.add("? \"" + "x".repeat(500_000) + "\"\n: a");
    texts.add("a: " + "9".repeat(1_000_000));
    texts.add("a: |\n" + "  x\n".repeat(250_000));
    texts.add("a: \"" + "\\u2028".repeat(150_000) + "\"");
    StringBuilder keys = new StringBuilder();
    for (int i = 0; i < 80_000; i++) {
      keys.append("k").append(i).append(": 1\n");
    }
    texts.add(keys.toString());
    texts.add("stage: x\n".repeat(80_000));
    texts.add("a:\n" + "- &a x\n- *a\n".repeat(60_000));
    texts.add(good + "\n" + good);
    texts.add("---\n" + good + "\n---\n" + good);
    texts.add("%YAML 9.9\n---\n" + good);
    texts.add("%TAG ! tag:x,2000:\n---\n!foo {}\n");
    texts.add(
        "!!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[!!java.net.URL ['http://127.0.0.1:1/']]]]\n");
    texts.add("a: !!binary aGVsbG8=\n");
    texts.add("a: !!java.io.File [canary]\n");
    texts.add("a: |99\n  x\n");
    texts.add("a: |9999999999\n  x\n");
    texts.add("a: >-+\n  x\n");
    for (String text :
        List.of(
            "",
            "\n",
            "#",
            "~",
            "null",
            "''",
            "a",
            "[]",
            "[a]",
            "true",
            "12",
            "{",
            "}",
            "[",
            "]",
            "{a",
            "a: 'x",
            "a: \"\\x",
            "!<>",
            "*a",
            "&a",
            "? [a, b]\n: c\n",
            "{[a]: b}",
            "? {a: b}\n: c\n",
            "{}: x\n",
            "~: x\n",
            "null: x\n",
            "1: 2\n",
            "true: x\n",
            ": x\n",
            "- - -",
            "a:\tb",
            "\ta: b",
            "a: b: c",
            "@a: b",
            "a: @b",
            "`a`: b",
            "a: %b\n%c: d",
            "...\n",
            "--- >\n",
            "--- |\n x\n...\n---\n",
            "a\u0085b: c",
            "a\u2028b: c",
            "\ufeff\ufeffa: b",
            "a: \"\\0\"",
            "a: \"\\ud83d\"",
            "\"a\\nb\": c",
            "\"a\\0b\": c",
            "\u202ea: b",
            "a: b\0",
            "\0",
            "\u001b[31m: x")) {
      texts.add(text);
    }
    List<byte[]> bombs = new ArrayList<>();
    for (String text : texts) {
      if (large || text.length() < LARGE) {
        bombs.add(text.getBytes(StandardCharsets.UTF_8));
      }
    }
    bombs.add(good.getBytes(StandardCharsets.UTF_16));
    bombs.add(good.getBytes(StandardCharsets.UTF_16LE));
    bombs.add(new byte[] {'a', ':', ' ', (byte) 0xff, (byte) 0xfe});
    bombs.add(new byte[] {(byte) 0xc0, (byte) 0x80});
    bombs.add(new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80});
    bombs.add(new byte[100_000]);
    return bombs;
  }

  /** A jar of plugins/ is looked into for a name that no built-in backend has. */
  @Test
  void noPluginsDescriptorIsMoreThanRefused() throws IOException {
    write("run.yaml", String.valueOf(RUNS.get("shell")).replace("\"shell\"", "\"mine\""));
    List<String> wrong = new ArrayList<>();
    for (String text : HostileText.worst(7, 20)) {
      for (String name : List.of("mine.jar", text + ".jar")) {
        Path jar;
        try {
          jar = Files.createDirectories(folder.resolve("plugins")).resolve(name);
          if (!folder.resolve("plugins").equals(jar.getParent())) {
            continue;
          }
          plugin(jar, text);
        } catch (IOException | InvalidPathException noName) {
          continue;
        }
        long begin = cpuTime();
        Screen screen = type("submit", folder + "/run.yaml", "--cluster=mine", "--dry-run");
        checked(screen, "plugin " + shown(text), cpuTime() - begin, wrong);
        if (screen.exit() != 2 || !screen.err().contains("plugins")) {
          wrong.add("plugin " + shown(text) + ": exit " + screen.exit() + shown(screen.err()));
        }
        Files.delete(jar);
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static void plugin(Path jar, String descriptor) throws IOException {
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry("META-INF/services/dev.nexa.slurm.job.backend.Backend"));
      out.write(descriptor.getBytes(StandardCharsets.UTF_8));
      out.closeEntry();
    }
  }

  /** What {@code submit --dry-run} prints after the script can be run with it: it is comments. */
  @Test
  void aWorkspaceOfAnyNameIsTextInTheScriptAndBelowIt() throws IOException {
    for (String name :
        List.of("w\ntouch canary\n", "$(touch canary)", "';touch canary;'", "%j #")) {
      Path workspace = folder.resolve("spaces").resolve(name);
      Files.createDirectories(workspace);
      write("run.yaml", String.valueOf(RUNS.get("shell")).replace("\"b\"", "\"${workspace}\""));
      StringWriter out = new StringWriter();
      StringWriter err = new StringWriter();
      int exit =
          Main.run(
              new String[] {"submit", folder + "/run.yaml", "--local", "--dry-run"},
              Map.of("PATH", "/none", "NEXA_WORKSPACE", workspace.toString()),
              new PrintWriter(out, true),
              new PrintWriter(err, true));
      assertThat(exit).as(err.toString()).isZero();
      String script = out.toString();
      Sandbox sandbox = new Sandbox(folder.resolve("sandbox"));
      List<String> calls = sandbox.calls(List.of(script), List.of(Map.of())).get(0);
      assertThat(sandbox.left()).isEmpty();
      assertThat(calls).noneMatch(call -> call.startsWith("unknown"));
      assertThat(calls).contains("env A\0" + workspace);
      String below = script.substring(script.indexOf("{ nexa_main \"$@\"; }"));
      assertThat(below.lines().skip(1).filter(line -> !line.isEmpty()))
          .allMatch(line -> line.startsWith("#"));
    }
  }

  /** Which runs take a text at this place, each in the first form that it takes; all, or one. */
  private List<Taker> takers(Slot slot, int number) throws IOException {
    List<String> runs =
        new ArrayList<>(slot.kind().equals("run") ? RUNS.keySet() : List.of("python"));
    Collections.rotate(runs, number);
    List<Taker> takers = new ArrayList<>();
    for (String run : runs) {
      int before = takers.size();
      for (String marker : slot.markers()) {
        boolean enough = takers.size() > before || (!ALL && takers.size() == 1);
        if (!enough && outcome(slot, run, marker).rendered() != null) {
          takers.add(new Taker(run, marker));
        }
      }
    }
    return takers;
  }

  /** All texts in the form that is right, held against the harmless one. */
  private void compare(Slot slot, String run, String marker, Tally tally) throws IOException {
    RenderRun.Rendered harmless = outcome(slot, run, marker).rendered();
    if (harmless == null) {
      throw new AssertionError(slot + " was taken a moment ago");
    }
    Map<String, String> words = words(harmless);
    List<String> scripts = new ArrayList<>(List.of(harmless.script().text()));
    List<Map<String, byte[]>> points = new ArrayList<>(List.of(points(harmless)));
    List<String> texts = new ArrayList<>(List.of(MARKER));
    for (String text : drawn(slot, 10, 90)) {
      String value = marker.replace(MARKER, CUT.contains(slot.key()) ? quoted(text) : text);
      RenderRun.Rendered rendered = attempt(slot, run, value, tally);
      if (rendered == null) {
        continue;
      }
      tally.arrived++;
      String where = slot + " in " + run + " = " + shown(value) + ": ";
      differ(words, words(rendered), text, where, tally);
      Map<String, byte[]> point = points(rendered);
      if (!rendered.script().text().equals(scripts.get(0)) || !same(point, points.get(0))) {
        scripts.add(rendered.script().text());
        points.add(point);
        texts.add(text);
      }
    }
    if (scripts.size() > 1) {
      ran(scripts, points, texts, slot + " in " + run, tally);
    }
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  /** All texts as they are, which most places refuse. */
  private void refusals(Slot slot, Tally tally) throws IOException {
    for (String text : drawn(slot, 3, 120)) {
      attempt(slot, "python", text, tally);
    }
  }

  /** All texts, or every n-th from another begin at each place. */
  private static List<String> drawn(Slot slot, int random, int nth) {
    int seed = slot.toString().hashCode() & 0xffff;
    List<String> texts = HostileText.worst(seed, random);
    List<String> drawn = new ArrayList<>();
    for (int i = ALL ? 0 : seed % nth; i < texts.size(); i += ALL ? 1 : nth) {
      drawn.add(texts.get(i));
    }
    return drawn;
  }

  private RenderRun.@Nullable Rendered attempt(Slot slot, String run, String value, Tally tally)
      throws IOException {
    String where = slot + " in " + run + " = " + shown(value) + ": ";
    tally.tried++;
    long begin = cpuTime();
    Outcome outcome;
    try {
      outcome = outcome(slot, run, value);
    } catch (RuntimeException | Error defect) {
      tally.wrong.add(where + "defect " + defect + " at " + defect.getStackTrace()[0]);
      return null;
    }
    long took = cpuTime() - begin;
    tally.slowest = Math.max(tally.slowest, took);
    if (took > SLOW_NANOS) {
      tally.wrong.add(where + "took " + took / 1_000_000 + " ms");
    }
    if (outcome.rendered() == null) {
      tally.refused++;
      String told = outcome.refusal();
      boolean placed = told.matches("(?s).*(" + file(slot) + "):(\\d+| price_book).*");
      // A character that no YAML may hold is told before anything is known of keys.
      boolean priced = told.startsWith("price book 'mine' has ");
      boolean keyed =
          priced
              || slot.path().startsWith(".*")
              || told.contains("control character")
              || told.contains("not YAML");
      for (String key : slot.path().split("[\\[\\].* ]+", -1)) {
        keyed |= !key.isEmpty() && told.contains(key);
      }
      if (!(placed || priced) || !keyed || told.length() > 3000) {
        tally.wrong.add(where + "told as " + shown(told));
      }
    }
    return outcome.rendered();
  }

  private static String file(Slot slot) {
    return switch (slot.kind()) {
      case "cluster" -> "configs/clusters/mine.yaml|run.yaml";
      case "prices", "skypilot" -> "configs/prices/mine.yaml|run.yaml";
      case "gpus" -> "configs/gpus.yaml|run.yaml";
      case "policy" -> "configs/policy.yaml|run.yaml";
      default -> "run.yaml";
    };
  }

  private Outcome outcome(Slot slot, String run, Object value) throws IOException {
    String name =
        switch (slot.kind()) {
          case "cluster" -> "configs/clusters/mine.yaml";
          case "prices", "skypilot" -> "configs/prices/mine.yaml";
          case "gpus" -> "configs/gpus.yaml";
          case "policy" -> "configs/policy.yaml";
          default -> "run.yaml";
        };
    String base =
        switch (slot.kind()) {
          case "cluster" -> CLUSTER;
          case "prices" -> PRICES;
          case "skypilot" -> SKYPILOT;
          case "gpus" -> GPUS;
          case "policy" -> POLICY;
          case "nexa_compute" -> THEIRS;
          default -> String.valueOf(RUNS.get(run));
        };
    if (!name.equals("run.yaml")) {
      write("run.yaml", String.valueOf(RUNS.get(run)));
    }
    String before =
        Files.exists(folder.resolve(name)) ? Files.readString(folder.resolve(name)) : "";
    write(name, escaped(Json.pretty(slot.in(Json.parseObject(base), value))));
    try {
      Context context = new Context(folder, Map.of("PATH", "/none"));
      String cluster = "mine";
      return new Outcome(
          new RenderRun(context)
              .render(
                  new Prepared.Request(
                      folder.resolve("run.yaml").toString(),
                      List.of(),
                      slot.path().equals("cluster")
                          ? java.util.Optional.empty()
                          : java.util.Optional.of(cluster))),
          "");
    } catch (NexaException refused) {
      if (refused.exitCode() != ExitCode.USAGE) {
        throw refused;
      }
      return new Outcome(null, String.valueOf(refused.getMessage()));
    } finally {
      write(name, before);
    }
  }

  /** Half a character has no bytes of its own, but an escape. */
  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean pair =
          Character.isHighSurrogate(c)
              && i + 1 < text.length()
              && Character.isLowSurrogate(text.charAt(i + 1));
      if (pair) {
        escaped.append(c).append(text.charAt(++i));
      } else if (Character.isSurrogate(c)) {
        escaped.append(String.format("\\u%04x", (int) c));
      } else {
        escaped.append(c);
      }
    }
    return escaped.toString();
  }

  /** Every text that leaves us but the script's own, by where it stands. */
  private static Map<String, String> words(RenderRun.Rendered rendered) {
    Map<String, String> words = new TreeMap<>();
    flat("plan", PlanFile.of(rendered.prepared().plan()).json(), words);
    List<RunnerFile> files = rendered.script().files();
    for (int i = 0; i < files.size(); i++) {
      String text = new String(files.get(i).content(), StandardCharsets.UTF_8);
      words.put("file " + i + " name", files.get(i).name());
      if (files.get(i).name().endsWith(".json")) {
        flat("file " + i, Json.parseObject(text), words);
      } else if (!files.get(i).name().endsWith("point.env")) {
        words.put("file " + i + " text", text);
      }
    }
    List<String> options = SbatchLines.of(rendered.script().text());
    for (int i = 0; i < options.size(); i++) {
      words.put("option " + i, options.get(i));
    }
    List<String> argv = rendered.argv();
    for (int i = 0; i < argv.size(); i++) {
      words.put("argv " + i, argv.get(i));
    }
    return words;
  }

  private static Map<String, byte[]> points(RenderRun.Rendered rendered) {
    Map<String, byte[]> points = new TreeMap<>();
    for (RunnerFile file : rendered.script().files()) {
      if (file.name().equals("0/point.env")) {
        points.put(file.name(), file.content());
      }
    }
    return points;
  }

  private static boolean same(Map<String, byte[]> a, Map<String, byte[]> b) {
    return a.keySet().equals(b.keySet())
        && a.keySet().stream().allMatch(name -> java.util.Arrays.equals(a.get(name), b.get(name)));
  }

  private static void flat(String at, @Nullable Object value, Map<String, String> words) {
    if (value instanceof JsonObject object) {
      int i = 0;
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        // A name may be what was set, so that its place is its number.
        String name = at + "/" + i++;
        words.put(name + " name", member.getKey());
        flat(name, member.getValue(), words);
      }
    } else if (value instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        flat(at + "/" + i, list.get(i), words);
      }
    } else {
      words.put(at, value instanceof String text ? text : Json.compact(value));
    }
  }

  /** Where the marker stood stands the text; sbatch is asked for nothing else. */
  private static void differ(
      Map<String, String> harmless,
      Map<String, String> hostile,
      String text,
      String where,
      Tally tally) {
    int arrived = 0;
    int derived = 0;
    for (Map.Entry<String, String> word : harmless.entrySet()) {
      String now = hostile.getOrDefault(word.getKey(), "(nothing)");
      boolean ours = word.getKey().startsWith("option") || word.getKey().startsWith("argv");
      if (replaced(word.getValue(), text, now)) {
        arrived += word.getValue().contains(MARKER) ? 1 : 0;
      } else if (ours) {
        tally.wrong.add(where + word.getKey() + " was " + word.getValue() + ", is " + shown(now));
      } else if (word.getValue().contains(MARKER)) {
        derived++;
      }
    }
    TreeSet<String> more = new TreeSet<>(hostile.keySet());
    more.removeAll(harmless.keySet());
    more.removeIf(key -> !key.startsWith("option") && !key.startsWith("argv"));
    if (!more.isEmpty()) {
      tally.wrong.add(where + "more of " + more);
    }
    if (arrived == 0 && derived > 0) {
      tally.wrong.add(where + "arrived nowhere as it is");
    }
  }

  private static boolean replaced(String was, String text, String now) {
    if (was.replace(MARKER, text).equals(now)) {
      return true;
    }
    if (was.startsWith("env NEXA_SWEEP_" + MARKER.toUpperCase(Locale.ROOT))) {
      return now.matches("(?s)env NEXA_SWEEP_[A-Z0-9_]*\\x00.*");
    }
    if (!was.contains(MARKER)) {
      return was.equals(now);
    }
    if (was.startsWith(WANDB_TAGS) && now.equals(WANDB_TAGS + "\0" + tagsOfWandb(was, text))) {
      return true;
    }
    if (text.startsWith("-") && was.contains("--" + MARKER)) {
      // An option that a person wrote with its dashes keeps them.
      return replaced(was.replace("--" + MARKER, MARKER), text, now);
    }
    String mount = MARKER + ":" + MARKER;
    if (text.contains(":") && was.contains(mount)) {
      // SRC:DST says where it is in the container; without DST it is SRC there too.
      return replaced(was.replace(mount, MARKER), text, now);
    }
    String json = Json.compact(text);
    return was.replace(MARKER, json.substring(1, json.length() - 1)).equals(now)
        || (text.contains(DEFAULTED)
            && replaced(was, text.replace(DEFAULTED, "$(touch canary)"), now));
  }

  /** W&B takes no tag of more than 64 characters, and our list of tags none with a comma. */
  private static String tagsOfWandb(String was, String text) {
    List<String> tags = new ArrayList<>();
    for (String tag : was.substring(WANDB_TAGS.length() + 1).split(",", -1)) {
      String set = tag.replace(MARKER, text);
      if (set.length() <= 64 && set.indexOf(',') < 0) {
        tags.add(set);
      }
    }
    return String.join(",", tags);
  }

  /** Runs the scripts: they call the same, with the text where the marker was, and nothing else. */
  private void ran(
      List<String> scripts,
      List<Map<String, byte[]>> points,
      List<String> texts,
      String where,
      Tally tally)
      throws IOException {
    Sandbox sandbox = new Sandbox(folder.resolve("sandbox"));
    List<List<String>> calls = sandbox.calls(scripts, points);
    if (where.contains(" (name)")) {
      // A variable that is named after a name stands elsewhere among the others.
      for (int i = 0; i < calls.size(); i++) {
        List<String> others = new ArrayList<>(calls.get(i));
        others.removeIf(call -> call.startsWith("env NEXA_SWEEP_"));
        calls.set(i, others);
      }
    }
    if (calls.get(0).size() < 4) {
      tally.wrong.add(where + ": the harmless script itself: " + sandbox.complaint(0));
    }
    for (int i = 1; i < scripts.size(); i++) {
      tally.ran++;
      List<String> before = calls.get(0);
      List<String> now = calls.get(i);
      String difference = "";
      for (int call = 0; call < Math.max(before.size(), now.size()); call++) {
        String was = call < before.size() ? before.get(call) : "(nothing)";
        String is = call < now.size() ? now.get(call) : "(nothing)";
        if (difference.isEmpty() && !replaced(was, texts.get(i), is)) {
          difference = shown(was) + " is " + shown(is);
        }
      }
      if (!difference.isEmpty()) {
        tally.wrong.add(
            where
                + " = "
                + shown(texts.get(i))
                + ": call "
                + difference
                + shown(sandbox.complaint(i)));
      }
    }
    if (!sandbox.left().isEmpty()) {
      tally.wrong.add(where + ": left " + sandbox.left());
    }
  }

  private static String shown(String text) {
    String json = Json.compact(text);
    return json.length() < 300 ? json : json.substring(0, 300) + "… (" + json.length() + ")";
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  /** What a person types, and what the screen shows. */
  private record Screen(int exit, String out, String err) {}

  private Screen type(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        Main.run(
            arguments,
            Map.of("PATH", "/none", "NEXA_WORKSPACE", folder.toString()),
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    return new Screen(exit, out.toString(), err.toString());
  }

  /** Of this thread, in nanoseconds: other tests run beside this one. */
  private static long cpuTime() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
