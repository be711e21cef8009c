package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Planner;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every text that a person can put in a config comes out of a real bash unchanged, and nothing of
 * it is executed: whole configs are read, planned, rendered and run, with programs that write down
 * what they are given.
 */
class QuotingTest {
  private static final int VALUES = 80;

  @TempDir Path folder;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void textOfEveryFieldReachesTheProgramUnchanged(int seed) throws IOException {
    Job job = new Job(seed);

    Script script = job.render();
    job.run(script);

    List<String> argv = new ArrayList<>();
    argv.add(job.runDir + "/runner/" + job.program);
    argv.addAll(List.of("--config", job.runDir + "/runner/config.json"));
    job.arguments.forEach(argument -> argv.add(job.expanded(argument)));
    assertThat(recorded("python3.argv")).isEqualTo(argv);

    Map<String, String> environment = environment();
    for (int i = 0; i < VALUES; i++) {
      assertThat(environment).containsEntry("V" + i, job.expanded(job.values.get(i)));
    }
    assertThat(environment)
        .containsEntry("HF_TOKEN", "it is $HOME")
        .containsEntry("NEXA_SCRATCH", job.scratch)
        .containsEntry("NEXA_DURABLE", job.durable)
        .containsEntry("NEXA_SHARED", job.shared)
        .containsEntry("NEXA_TASK_SCRATCH", job.scratch + "/manual_7/task_0");
    List<String> modules = new ArrayList<>();
    job.modules.forEach(module -> modules.addAll(List.of("load", module)));
    assertThat(recorded("module.argv")).isEqualTo(modules);
    if (job.contained) {
      List<String> apptainer = recorded("apptainer.argv");
      assertThat(apptainer.get(2)).endsWith("," + job.mount + ":" + job.mount);
      assertThat(apptainer.get(3)).isEqualTo(job.container);
    } else {
      assertThat(recorded("activated")).containsExactly(job.venv + "/bin/activate");
    }

    assertThat(Path.of(job.scratch, "manual_7", "task_0")).as("scratch is removed").doesNotExist();
    assertThat(Path.of(job.durable)).isDirectory();
    assertNothingWasExecuted();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(ints = {101, 102, 103})
  void textThatNoScriptHoldsReachesThePlanAndTheRunnersFilesUnchanged(int seed) throws IOException {
    Job job = new Job(seed);
    Plan plan = job.plan();

    JsonObject kept = Json.parseObject(Json.pretty(PlanFile.of(plan).json()));
    assertThat(kept.texts("tags")).endsWith(job.tag);
    assertThat(kept.text("model")).isEqualTo(job.model);
    assertThat(kept.object("allocation").text("constraint")).isEqualTo(job.constraint);

    Script script = job.render();
    RunnerFile config =
        script.files().stream().filter(file -> file.name().equals("config.json")).findAny().get();
    JsonObject training = Json.parseObject(new String(config.content(), StandardCharsets.UTF_8));
    assertThat(training.text("model_name")).isEqualTo(job.model);
    assertThat(training.text("dataset_path")).isEqualTo(job.dataset);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(ints = {201, 202, 203})
  void theTextOfAShellStageIsStagedByteForByte(int seed) throws IOException {
    HostileText hostile = new HostileText(seed);
    for (int i = 0; i < 50; i++) {
      String text = hostile.nextLines();
      JsonObject config =
          new JsonObject()
              .with("stage", "data")
              .with("backend", "shell")
              .with("run", text)
              .with("resources", new JsonObject().with("time", "1m"));
      Files.writeString(folder.resolve("run.yaml"), Json.compact(config));
      Plan plan = plan("default");

      RunnerFile staged = Backends.builtIn("shell").orElseThrow().launch(plan).files().get(0);

      assertThat(new String(staged.content(), StandardCharsets.UTF_8)).isEqualTo(text);
    }
  }

  @Test
  @SuppressWarnings("OrphanedFormatString") // It is the shell's.
  void anyTextIsOneWordOfTheShell() throws IOException {
    HostileText hostile = new HostileText(301);
    List<String> texts =
        new ArrayList<>(List.of("", " ", "\n", "\t\n", "a\nb", "\u0007", "-", "'"));
    while (texts.size() < 5_000) {
      texts.add(hostile.nextWithTiers());
      texts.add(hostile.nextLines());
    }
    StringBuilder script = new StringBuilder("printf '%s\\0'");
    texts.forEach(text -> script.append(' ').append(ShellFormat.INSTANCE.escapePlainText(text)));
    Files.writeString(folder.resolve("words.sh"), script.append('\n'));

    CommandResult result = run(List.of("bash", "words.sh"), Map.of());

    assertThat(result.err()).isEmpty();
    assertThat(List.of(result.out().split("\0", -1))).startsWith(texts.toArray(String[]::new));
    assertNothingWasExecuted();
  }

  @Test
  void textThatNeedsNoQuotesStaysReadable() {
    assertThat(ShellFormat.INSTANCE.escapePlainText("/mnt/data/a-b_c.1%2,x:y=z@h+"))
        .isEqualTo("/mnt/data/a-b_c.1%2,x:y=z@h+");
    assertThat(DirectiveFormat.INSTANCE.escapePlainText("h100:8")).isEqualTo("h100:8");
  }

  @Test
  void whatCannotBeWrittenAtAllIsAnError() {
    assertThatThrownBy(() -> ShellFormat.INSTANCE.escapePlainText("a\0b"))
        .hasMessage("a shell word can't hold NUL");
    assertThatThrownBy(() -> DirectiveFormat.INSTANCE.escapePlainText("a\nb"))
        .hasMessage("an #SBATCH line can't hold a control character");
  }

  /** A config with hostile text in each field, and the folders that it names. */
  private final class Job {
    final List<String> values;
    final List<String> arguments;
    final List<String> modules;
    final String program;
    final String scratch;
    final String durable;
    final String shared;
    final String venv;
    final String secrets;
    final boolean contained;
    final String container;
    final String mount;
    final String constraint;
    final String tag;
    final String model;
    final String dataset;
    final String runDir = folder.resolve("run").toString();

    Job(int seed) throws IOException {
      HostileText hostile = new HostileText(seed);
      contained = seed % 2 == 0;
      values = hostile.many(VALUES);
      arguments = hostile.many(VALUES);
      modules = List.of(hostile.next(), hostile.next(), hostile.next());
      program = hostile.nextName();
      scratch = folder + "/scratch " + hostile.nextName();
      durable = folder + "/durable " + hostile.nextName();
      shared = folder + "/shared " + hostile.nextName();
      venv = folder + "/venv " + hostile.nextName();
      secrets = folder + "/secrets " + hostile.nextName();
      container = folder + "/" + hostile.nextName() + ".sif";
      mount = "/" + hostile.nextName().replace(":", "");
      constraint = hostile.next();
      tag = hostile.next();
      model = hostile.next();
      dataset = hostile.nextName();
      Files.writeString(folder.resolve(program), "");
      Files.createDirectories(Path.of(venv, "bin"));
      Files.writeString(
          Path.of(venv, "bin", "activate"),
          "printf '%s\\0' \"$BASH_SOURCE\" >\"$OUT/activated\"\n");
      Files.writeString(Path.of(secrets), "HF_TOKEN='it is $HOME'\n");
      Files.setPosixFilePermissions(Path.of(secrets), PosixFilePermissions.fromString("rw-------"));
      write("run.yaml", config());
      write("configs/clusters/mine.yaml", cluster());
    }

    private JsonObject config() {
      JsonObject env = new JsonObject();
      for (int i = 0; i < VALUES; i++) {
        // A variable of the shell in braces is refused; without braces it is kept as it is.
        values.set(i, values.get(i).replaceAll("[$][{][A-Z]", "\\$"));
        env.with("V" + i, values.get(i));
      }
      return new JsonObject()
          .with("stage", "train")
          .with("backend", "python")
          .with("entrypoint", new JsonObject().with("script", program).with("args", arguments))
          .with("model_name", model)
          .with("dataset_path", dataset)
          .with("tags", List.of(tag))
          .with("env", env)
          .with("env_file", secrets)
          .with(
              "software",
              new JsonObject()
                  .with("modules", modules)
                  .with(contained ? "container" : "venv", contained ? container : venv)
                  .with("mounts", contained ? List.of(mount) : List.of()))
          .with("resources", new JsonObject().with("time", "1m").with("constraint", constraint));
    }

    private JsonObject cluster() {
      return new JsonObject()
          .with(
              "storage",
              new JsonObject()
                  .with("scratch", scratch)
                  .with("durable", durable)
                  .with("shared", shared));
    }

    Plan plan() {
      return QuotingTest.this.plan("mine");
    }

    Script render() {
      Plan plan = plan();
      return new Renderer(new ConfigSource(folder))
          .render(plan, Backends.builtIn("python").orElseThrow().launch(plan));
    }

    void run(Script script) throws IOException {
      Files.createDirectories(Path.of(runDir, "runner"));
      Files.createDirectories(folder.resolve("out"));
      Files.write(Path.of(runDir, "job.sbatch"), script.bytes());
      for (RunnerFile file : script.files()) {
        Files.write(Path.of(runDir, "runner", file.name()), file.content());
      }
      program("python3", "printf '%s\\0' \"$@\" >\"$OUT/python3.argv\"; env -0 >\"$OUT/env\"");
      program("module", "printf '%s\\0' \"$@\" >>\"$OUT/module.argv\"");
      program("apptainer", "printf '%s\\0' \"$@\" >\"$OUT/apptainer.argv\"; shift 4; exec \"$@\"");

      CommandResult result =
          QuotingTest.this.run(
              List.of("bash", "run/job.sbatch"),
              Map.of("SLURM_JOB_ID", "7", "SLURM_SUBMIT_DIR", runDir, "HOSTNAME", "n1"));

      assertThat(result.exit()).as(result.err()).isZero();
      assertThat(result.err()).isEmpty();
    }

    /** The storage tiers are the one thing that a value may name. */
    String expanded(String value) {
      return value
          .replace("${run_dir}", runDir)
          .replace("${scratch}", scratch)
          .replace("${durable}", durable)
          .replace("${shared}", shared);
    }
  }

  private Plan plan(String cluster) {
    ConfigSource source = new ConfigSource(folder);
    ConfigReader reader = new ConfigReader(source, Map.of());
    String config = folder.resolve("run.yaml").toString();
    return new Planner(source)
        .plan(reader.run(config, List.of()), reader.cluster(cluster), reader.policy());
  }

  /** JSON is YAML too. */
  private void write(String name, JsonObject document) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, Json.pretty(document));
  }

  private void program(String name, String text) throws IOException {
    StandIn.bash(folder.resolve("bin").resolve(name), text);
  }

  private CommandResult run(List<String> argv, Map<String, String> more) throws IOException {
    Map<String, String> environment = new TreeMap<>(more);
    environment.put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
    environment.put("OUT", folder.resolve("out").toString());
    environment.put("LC_ALL", "C.UTF-8");
    return new CommandRunner().run(new Command(argv, environment, folder, Duration.ofSeconds(60)));
  }

  private List<String> recorded(String name) throws IOException {
    String text = Files.readString(folder.resolve("out").resolve(name));
    return Arrays.asList(text.substring(0, text.length() - 1).split("\0", -1));
  }

  private Map<String, String> environment() throws IOException {
    Map<String, String> environment = new TreeMap<>();
    for (String variable : recorded("env")) {
      int equals = variable.indexOf('=');
      environment.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    return environment;
  }

  private void assertNothingWasExecuted() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(files.filter(file -> file.endsWith("canary"))).isEmpty();
    }
  }
}
