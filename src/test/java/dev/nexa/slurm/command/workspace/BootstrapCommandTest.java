package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The two scripts of templates/node. None of these tests changes this machine. */
class BootstrapCommandTest {
  private static final Path NODE = Path.of("templates/node").toAbsolutePath();
  private static final String SCRIPT = NODE.resolve("bootstrap.sh").toString();
  private static final String CONTAINER = NODE.resolve("nexa-bootstrap.sh").toString();

  @TempDir Path folder;

  private Terminal terminal;
  private String path;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder);
    terminal.program("dpkg-query", "exit 1");
    terminal.program("apt-cache", "echo '  Candidate: 1'");
    terminal.program("apt-get", "touch " + terminal.bin + "/apt-get.argv");
    terminal.program("nvidia-smi", "exit 9");
    terminal.program("tailscale", "exit 1");
    terminal.program("aws", "");
    terminal.program("nexa-slurm", "");
    terminal.program("java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2");
    path = terminal.bin + ":/usr/bin:/bin";
    terminal.with("PATH", path);
    for (String tier : List.of("SCRATCH", "DURABLE", "SHARED", "REPO")) {
      terminal.with("NEXA_" + tier, folder.resolve(tier).toString());
    }
  }

  @Test
  void printIsTheScriptItself() throws IOException {
    Screen screen = terminal.type("bootstrap", "--print");

    assertThat(screen.out()).isEqualTo(Files.readString(Path.of(SCRIPT)));
    assertThat(screen.exit()).isZero();
  }

  @Test
  void aDryRunSaysEachStepAndDoesNone() throws IOException {
    Path key = Files.writeString(folder.resolve("key"), "tskey-of-nobody\n");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    Files.createDirectory(folder.resolve("SHARED"));
    terminal.with("TAILSCALE_KEY_FILE", key.toString());
    terminal.program("nvidia-smi", "printf '535.104.05\\n535.104.05\\n'");

    Screen screen = terminal.type("bootstrap", "--dry-run");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out().lines())
        .contains(
            "would do       Java: apt-get install openjdk-17-jre-headless",
            "already there  AWS CLI",
            "would do       folder " + folder.resolve("DURABLE") + " (NEXA_DURABLE)",
            "already there  folder "
                + folder.resolve("SHARED")
                + " (NEXA_SHARED); only its owner writes there. Next: chmod 1777 "
                + folder.resolve("SHARED"),
            "would do       variables for the next login: /etc/profile.d/nexa.sh",
            "skipped        NVIDIA driver 535.104.05: the images hold CUDA 13.0, which needs 580 or"
                + " newer. Next: install driver 580",
            "already there  Tailscale",
            "would do       joins the tailnet",
            "already there  nexa-slurm")
        .anyMatch(line -> line.startsWith("would do       base packages: apt-get install "));
    assertThat(screen.out()).doesNotContain("tskey");
    assertThat(terminal.bin.resolve("apt-get.argv")).doesNotExist();
    assertThat(folder.resolve("DURABLE")).doesNotExist();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "580.95.05, already there  NVIDIA driver 580.95.05; 1 GPUs",
    "Failed to initialize NVML, skipped        NVIDIA driver Failed"
  })
  void theDriverIsOnlyReported(String driver, String said) {
    terminal.program("nvidia-smi", "echo '" + driver + "'");

    assertThat(terminal.type("bootstrap", "--dry-run").out()).contains(said.replace(';', ','));
  }

  @Test
  void checkEndsWithOneIfSomethingIsMissing() {
    Screen screen = terminal.type("bootstrap", "--check");

    assertThat(screen.exit()).isOne();
    assertThat(screen.out()).contains("missing        folder ", "skipped        Tailscale: ");
    assertThat(screen.err())
        .matches("bootstrap: steps that are missing: \\d+. Next: sudo nexa-slurm bootstrap\n");
  }

  @Test
  void twoModesAtOnceAreRefused() {
    Screen screen = terminal.type("bootstrap", "--print", "--dry-run");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("expected one of --print, --check and --dry-run")
        .contains("nexa-slurm bootstrap --print | ssh NODE sudo bash -s -- --dry-run");
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({
    "NEXA_SCRATCH, nvme, Next: sudo NEXA_SCRATCH=/nvme bash bootstrap.sh",
    "NCCL_DEBUG, a'b, expected a value without quotes and line breaks",
    "NEXA_GROUP, no-such-group, Next: groupadd no-such-group",
    "NEXA_PACKAGE, no.deb, there is no file no.deb",
    "NEXA_PACKAGE, /etc/passwd, expected nexa-slurm_VERSION_all.deb or nexa-slurm-VERSION.tar.gz",
    "TAILSCALE_KEY_FILE, /etc/passwd, Next: chmod 600 /etc/passwd",
    "TAILSCALE_KEY_FILE, none, expected a file with a key"
  })
  void aWrongVariableIsRefusedWithWhatWasExpected(String name, String value, String said)
      throws IOException {
    CommandResult refused = bash(Map.of(name, value), SCRIPT, "--dry-run");

    assertThat(refused.err()).contains(said);
    assertThat(refused.exit()).isOne();
  }

  @Test
  void aScriptThatWasCutOffDoesNothing() throws IOException {
    List<String> lines = Files.readAllLines(Path.of(SCRIPT));
    String half = String.join("\n", lines.subList(0, lines.size() - 1));

    CommandResult cut = bash(Map.of(), "-c", half);

    assertThat(cut.out()).isEmpty();
    assertThat(cut.err()).contains("unexpected end of file");
  }

  private static final String MOUNTS =
      "HOME/.cache/huggingface:/home/runner/.cache/huggingface @ WORK:/workspace/nexa_compute @"
          + " NVME:/mnt/nvme";

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          docker    |                              | docker pull ghcr.io/nexa/nexa_light:latest;docker run --rm --init --shm-size=16g USER --gpus all -v MOUNTS -e HF_TOKEN ghcr.io/nexa/nexa_light:latest
          docker    | run train-heavy python x.py  | docker pull ghcr.io/nexa/nexa_heavy:latest;docker run --rm --init --shm-size=32g USER --gpus all -v MOUNTS -e HF_TOKEN ghcr.io/nexa/nexa_heavy:latest python x.py
          docker    | ghcr.io/nexa/training-heavy:latest | docker pull ghcr.io/nexa/training-heavy:latest;docker run --rm --init --shm-size=32g USER --gpus all -v MOUNTS -e HF_TOKEN ghcr.io/nexa/training-heavy:latest
          docker    | run infer                    | docker pull ghcr.io/nexa/nexa_infer:latest;docker run --rm --init --shm-size=16g USER --gpus all -v MOUNTS -e HF_TOKEN -p 127.0.0.1:8000:8000 ghcr.io/nexa/nexa_infer:latest
          apptainer | run train-light              | apptainer run --pwd /workspace/nexa_compute --nv --bind MOUNTS docker://ghcr.io/nexa/nexa_light:latest
          """)
  void aDryRunPrintsTheCommandLines(String tool, String words, String expected) throws IOException {
    program(tool, "touch " + folder + "/ran");
    terminal.program("nvidia-smi", "");
    List<String> argv = new ArrayList<>(List.of(CONTAINER, "--dry-run"));
    argv.addAll(words == null ? List.of() : List.of(words.split(" ", -1)));
    Path work = Files.createDirectory(folder.resolve("work"));
    Path nvme = Files.createDirectory(folder.resolve("nvme"));

    CommandResult shown =
        bash(
            Map.of("HF_TOKEN", "hf_of-nobody", "WORK", work.toString(), "NVME", nvme.toString()),
            argv.toArray(String[]::new));

    String option = tool.equals("docker") ? "-v" : "--bind";
    assertThat(shown.err()).isEmpty();
    assertThat(shown.out().replaceAll("--user \\d+:\\d+", "USER").strip().replace('\n', ';'))
        .isEqualTo(
            expected
                .replace("MOUNTS", MOUNTS.replace("@", option))
                .replace("HOME", folder.toString())
                .replace("WORK", work.toString())
                .replace("NVME", nvme.toString()));
    assertThat(folder.resolve("ran")).doesNotExist();
  }

  @Test
  void podmanHasItsOwnOptionsAndStartsAnImageThatItCannotPull() throws IOException {
    program("podman", "echo \"$*\" >>" + folder + "/argv; [ $1 != pull ]");
    Files.writeString(folder.resolve(".env"), "A=B\n");

    CommandResult started =
        bash(Map.of("SHM_SIZE", "64g", "REGISTRY", "r.example/lab"), CONTAINER, "train-light");

    assertThat(started.exit()).isZero();
    assertThat(Files.readAllLines(folder.resolve("argv")))
        .startsWith(
            "pull r.example/lab/nexa_light:latest", "image inspect r.example/lab/nexa_light:latest")
        .last()
        .asString()
        .startsWith("run --rm --init --shm-size=64g ")
        .doesNotContain("nvidia.com/gpu")
        .contains(" --env-file " + folder.toRealPath() + "/.env ");
    assertThat(started.err()).contains("nvidia-smi finds no GPU");
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource({
    "'', Next: sudo apt-get install podman",
    "run x, Next: nexa-bootstrap.sh run train-light",
    "x, 'expected training-light, training-heavy, infer, or a name such as'"
  })
  void whatCannotStartIsRefused(String words, String said) throws IOException {
    program("nvidia-smi", "");
    List<String> argv = new ArrayList<>(List.of(CONTAINER));
    argv.addAll(words.isEmpty() ? List.of() : List.of(words.split(" ")));

    CommandResult refused = bash(Map.of(), argv.toArray(String[]::new));

    assertThat(refused.exit()).isOne();
    assertThat(refused.err()).contains(said);
  }

  /** From now on, the PATH has only stand-ins: this machine may have Docker. */
  private void program(String name, String shell) {
    path = terminal.bin.toString();
    for (String tool : List.of("realpath", "id", "mkdir")) {
      terminal.program(tool, "exec /usr/bin/" + tool + " \"$@\"");
    }
    terminal.program(name, shell);
  }

  private CommandResult bash(Map<String, String> more, String... words) throws IOException {
    Map<String, String> environment = new TreeMap<>(Map.of("HOME", folder.toString()));
    environment.put("PATH", path);
    environment.putAll(more);
    List<String> argv = new ArrayList<>(List.of("/bin/bash"));
    argv.addAll(List.of(words));
    return new CommandRunner().run(new Command(argv, environment, folder, Duration.ofMinutes(1)));
  }

  @Test
  void shellcheckFindsNothing() throws IOException {
    CommandResult result;
    try {
      result =
          new CommandRunner()
              .run(
                  new Command(
                      List.of("shellcheck", "--format=gcc", SCRIPT, CONTAINER),
                      System.getenv(),
                      folder,
                      Duration.ofMinutes(2)));
    } catch (IOException notInstalled) {
      assertThat(System.getenv("CI")).as("in CI shellcheck is installed").isNotEqualTo("true");
      assumeTrue(false, "shellcheck is not installed");
      return;
    }
    assertThat(result.out()).isEmpty();
    assertThat(result.exit()).isZero();
  }
}
