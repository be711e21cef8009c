package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.cluster.scheduler.ClientEnvironment;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Somebody whose login shell holds the usual secrets types every command; then no file, argument or
 * log holds one. Commands are processes of their own: what they inherit is what is asked about.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class SecretsTest {
  /** What all secrets begin with, and nothing else does. */
  private static final String MARKER = "n3xa5ecr3t";

  private static final String IN_FILE = MARKER + "-of-the-file";

  /** What Slurm's clients get beside the allow-list: how they print times. */
  private static final Set<String> PRINTING =
      Set.of("TZ", "LC_ALL", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN");

  @TempDir Path folder;

  private final StringBuilder screens = new StringBuilder();
  private final Map<String, String> environment = new TreeMap<>();

  /** What a command printed. */
  private record Typed(int exit, String out, String err) {
    JsonObject json() {
      return Json.parseObject(out);
    }
  }

  @Test
  @Tag("full")
  void noSecretOfTheShellIsLeftByARunOnThisMachine() throws Exception {
    login("SLURM_JWT");
    for (Path config : examples()) {
      Typed dry = type("submit", config.toString(), "--dry-run");
      assertThat(dry.exit()).as(dry.err()).isZero();
      assertThat(type("estimate", config.toString(), "--json").exit()).isZero();
    }
    String run = everyCommand("--local", "--wait");

    assertThat(job(run, 0)).contains("the file's: " + Sha256.of(IN_FILE));
    assertThat(found()).isEmpty();
    assertThat(screens.toString()).doesNotContain(MARKER);

    // The search would find one: a secret that a person writes into a config is kept with the run.
    submit("leaky", "--local", "--wait", "--set", "env.LEAK=" + MARKER);
    assertThat(found()).anyMatch(file -> file.endsWith("job.sbatch"));
  }

  @Test
  @Tag("slurm")
  void noSecretOfTheShellReachesSlurm() throws Exception {
    // Not SLURM_JWT, with which clients would ask for another way to log in than this cluster has.
    login();
    for (String client : List.of("sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo")) {
      recorder(client, "exec /usr/bin/" + client + " \"$@\"");
    }
    String run = everyCommand("--cluster", "test", "--wait");
    assertThat(job(run, 0)).contains("the file's: " + Sha256.of(IN_FILE));

    String waits = submit("waits", "--cluster", "test", "--set", "run=sleep 60");
    long id = id(waits);
    List<String> arguments = argumentsOfProcesses();
    String kept = keptBySlurm(id);
    type("cancel", waits);

    assertThat(kept).contains("nexa_main").contains("JobId=" + id);
    assertThat(kept).doesNotContain(MARKER);
    assertThat(keptBySlurm(id(run))).doesNotContain(MARKER);
    assertThat(arguments).noneMatch(argument -> argument.contains(MARKER));
    assertThat(found()).isEmpty();
    assertThat(screens.toString()).doesNotContain(MARKER);
    clientsGotTheAllowListAlone();

    String leaky = submit("leaky", "--cluster", "test", "--set", "env.LEAK=" + MARKER);
    assertThat(keptBySlurm(id(leaky))).as("the search finds one").contains(MARKER);
    type("cancel", leaky);
  }

  /** Where the token is Slurm's own, it is the client's and not the job's. */
  @Test
  @Timeout(120)
  @Tag("full")
  void aTokenForSlurmIsNoArgumentAndNotExported() throws Exception {
    login("SLURM_JWT");
    recorder("sbatch", "echo 4711");
    recorder("squeue", "");
    recorder("sacct", "");
    recorder("scontrol", "echo 'AccountingStorageType = accounting_storage/slurmdbd'");

    Typed submitted = type("submit", config("token", ""), "--cluster", "test");
    type("status");
    type("reconcile");

    assertThat(submitted.exit()).as(submitted.err()).isZero();
    clientsGotTheAllowListAlone();
    String argv = Files.readString(folder.resolve("calls/sbatch.argv"));
    assertThat(argv).contains("--export=").doesNotContain("SLURM_JWT").doesNotContain("=ALL");
    assertThat(found()).isEmpty();
    assertThat(screens.toString()).doesNotContain(MARKER);
  }

  @Test
  @Timeout(120)
  void anEnvFileThatOthersMayReadIsRefusedByTheJobAndNotRead() throws Exception {
    login();
    Files.setPosixFilePermissions(
        folder.resolve("secrets.env"), PosixFilePermissions.fromString("rw-r--r--"));

    Typed typed = type("submit", config("open", ""), "--local", "--wait", "--json");

    assertThat(typed.exit()).as(typed.err()).isEqualTo(5);
    assertThat(job(typed.json().text("run_id"), 0))
        .contains("secrets.env: expected a file of mode 600; chmod 600 it")
        .doesNotContain("the file's");
    assertThat(found()).isEmpty();
  }

  /** A shell with secrets, a workspace, a profile, and the documented file. */
  private void login(String... more) throws IOException {
    List<String> names =
        new ArrayList<>(
            List.of(
                "WANDB_API_KEY",
                "HF_TOKEN",
                "AWS_ACCESS_KEY_ID",
                "AWS_SECRET_ACCESS_KEY",
                "AWS_SESSION_TOKEN",
                "VLLM_API_KEY",
                "NEXA_API_KEY"));
    names.addAll(List.of(more));
    names.forEach(name -> environment.put(name, MARKER + "-" + name));
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Files.createDirectories(folder.resolve("calls"));
    environment.put("PATH", bin + ":/usr/bin:/bin");
    environment.put("HOME", folder.toString());
    environment.put("USER", System.getProperty("user.name"));
    environment.put("LANG", "C.UTF-8");
    environment.put("NEXA_WORKSPACE", workspace().toString());
    Files.createDirectories(workspace().resolve("configs/clusters"));
    Files.writeString(
        workspace().resolve("configs/clusters/test.yaml"),
        """
        storage:
          scratch: ${workspace}/scratch
          durable: ${workspace}/durable
          shared: ${workspace}/shared
        """);
    Path secrets = folder.resolve("secrets.env");
    Files.writeString(secrets, "FROM_FILE=" + IN_FILE + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
  }

  private Path workspace() {
    return folder.resolve("workspace");
  }

  /** A job that prints its environment, but for what the file gives it: of that a digest. */
  private String config(String name, String more) throws IOException {
    Path file = workspace().resolve(name + ".yaml");
    Files.writeString(
        file,
        """
        stage: data
        name: NAME
        backend: shell
        env_file: FOLDER/secrets.env
        run: |
          echo "the file's: $(printf %s "$FROM_FILE" | sha256sum)"
          unset FROM_FILE
          env
          tr '\\0' ' ' </proc/$PPID/cmdline
        resources: {cpus_per_task: 1, memory: 100M, time: 2m}
        """
                .replace("NAME", name)
                .replace("FOLDER", folder.toString())
            + more);
    return file.toString();
  }

  /** Types every command that reads or writes a run; the run's id. */
  private String everyCommand(String... where) throws Exception {
    type("init", workspace().toString());
    String run = submit("all", where);
    for (String command :
        List.of(
            "status",
            "reconcile",
            "logs " + run,
            "runs list --json",
            "runs show " + run,
            "costs",
            "audit",
            "usage",
            "cancel " + run,
            "serve list")) {
      type(command.split(" ", -1));
    }
    List<String> again = new ArrayList<>(List.of("rerun", run, "--wait"));
    assertThat(type(again.toArray(String[]::new)).exit()).isZero();
    type("reconcile");
    return run;
  }

  /** One config of each folder: each has a backend of its own. */
  private static List<Path> examples() throws IOException {
    List<Path> examples = new ArrayList<>();
    for (String folder : List.of("acc", "axolotl", "data", "eval", "serve", "train")) {
      try (Stream<Path> files = Files.list(Path.of("configs", folder).toAbsolutePath())) {
        files
            .filter(file -> file.toString().endsWith(".yaml"))
            // Accelerate's own, which science_sharded.yaml names.
            .filter(file -> !file.endsWith("fsdp_4gpu.yaml"))
            .sorted()
            .limit(1)
            .forEach(examples::add);
      }
    }
    return examples;
  }

  private String submit(String name, String... more) throws Exception {
    List<String> all = new ArrayList<>(List.of("submit", config(name, ""), "--json"));
    all.addAll(List.of(more));
    Typed typed = type(all.toArray(String[]::new));
    assertThat(typed.exit()).as(typed.err()).isZero();
    return typed.json().text("run_id");
  }

  private Typed type(String... arguments) throws IOException {
    List<String> argv = OwnJvm.words(Main.class, arguments);
    CommandResult result =
        new CommandRunner().run(new Command(argv, environment, folder, Duration.ofMinutes(2)));
    boolean leaks = Stream.of(arguments).anyMatch(argument -> argument.contains(MARKER));
    if (!leaks) {
      screens.append(result.out()).append(result.err());
    }
    return new Typed(result.exit(), result.out(), result.err());
  }

  /** A client that writes down its arguments and its environment, and then does this. */
  private void recorder(String name, String shell) throws IOException {
    Path program = folder.resolve("bin").resolve(name);
    String calls = folder.resolve("calls").resolve(name).toString();
    StandIn.bash(
        program,
        // The jobs find this on their PATH, too; the environment of such a call is the job's.
        "[ -n \"$SLURM_JOB_ID\" ] || cat /proc/$$/cmdline >>"
            + calls
            + ".argv\n[ -n \"$SLURM_JOB_ID\" ] || cat /proc/$$/environ >>"
            + calls
            + ".environ\n"
            + shell);
  }

  private void clientsGotTheAllowListAlone() throws IOException {
    TreeSet<String> names = new TreeSet<>();
    try (Stream<Path> calls = Files.list(folder.resolve("calls"))) {
      for (Path call : calls.toList()) {
        String text = Files.readString(call);
        if (call.toString().endsWith(".argv")) {
          assertThat(text).as("%s", call).doesNotContain(MARKER);
        } else {
          for (String variable : text.split("\0", -1)) {
            names.add(variable.substring(0, Math.max(0, variable.indexOf('='))));
          }
        }
      }
    }
    names.removeAll(PRINTING);
    names.remove("");
    assertThat(names).contains("PATH");
    assertThat(names).allMatch(name -> !ClientEnvironment.forClients(Map.of(name, "x")).isEmpty());
  }

  /** Files that hold a secret, but for the one it is meant to lie in. */
  private List<String> found() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        boolean meant = file.equals(folder.resolve("secrets.env"));
        // The client's own token is in its environment, which is looked through by name.
        boolean environ = file.toString().endsWith(".environ");
        String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        if (!meant && !environ && bytes.contains(MARKER)) {
          found.add(folder.relativize(file).toString());
        }
      }
    }
    return found;
  }

  private String job(String run, int task) throws IOException {
    try (Stream<Path> logs = Files.list(workspace().resolve("runs").resolve(run).resolve("logs"))) {
      Path log = logs.filter(file -> file.toString().endsWith("_" + task + ".out")).toList().get(0);
      return Files.readString(log);
    }
  }

  private long id(String run) throws IOException {
    Path journal = workspace().resolve("runs").resolve(run).resolve("journal.jsonl");
    for (String line : Files.readAllLines(journal)) {
      JsonObject data = Json.parseObject(line).object("data");
      if (data.optionalDecimal("job_id").isPresent()) {
        return data.number("job_id");
      }
    }
    throw new AssertionError(run + " has no job");
  }

  /** All that Slurm tells or keeps of a job. */
  private static String keptBySlurm(long id) throws IOException {
    StringBuilder kept = new StringBuilder();
    kept.append(command("scontrol", "show", "job", "-dd", "" + id));
    kept.append(command("scontrol", "write", "batch_script", "" + id, "-"));
    kept.append(command("sacct", "-j", "" + id, "-P", "-o", "ALL"));
    String state = command("scontrol", "show", "config");
    for (String folder : List.of("StateSaveLocation", "SlurmdSpoolDir")) {
      Path root = Path.of(state.replaceAll("(?s).*" + folder + "\\s*= (\\S+).*", "$1"));
      Path parent = root.toString().contains("%") ? root.getParent() : root;
      if (Files.isReadable(parent)) {
        kept.append(texts(parent, "job.*" + id + ".*"));
      }
    }
    return kept.toString();
  }

  private static String texts(Path root, String pattern) throws IOException {
    StringBuilder texts = new StringBuilder();
    try (Stream<Path> files = Files.find(root, 4, (path, is) -> is.isRegularFile())) {
      for (Path file : files.toList()) {
        if (root.relativize(file).toString().matches("(.*/)?" + pattern)) {
          texts.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        }
      }
    } catch (java.io.UncheckedIOException gone) {
      // Jobs of others end meanwhile.
    }
    return texts.toString();
  }

  private static String command(String... argv) throws IOException {
    Command command =
        new Command(List.of(argv), System.getenv(), Path.of("/"), Duration.ofSeconds(30));
    return new CommandRunner().run(command).out();
  }

  /** What ps shows to everybody on this machine. */
  private static List<String> argumentsOfProcesses() throws IOException {
    List<String> arguments = new ArrayList<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path process : processes.toList()) {
        if (process.getFileName().toString().matches("\\d+")) {
          try {
            arguments.add(
                Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1));
          } catch (IOException ended) {
            // Between the two calls.
          }
        }
      }
    }
    return arguments;
  }
}
