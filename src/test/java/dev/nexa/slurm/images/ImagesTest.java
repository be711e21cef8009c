package dev.nexa.slurm.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.StandIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The images of docker/ as far as they can be held without a container engine. */
class ImagesTest {
  private static final Path ROOT = Path.of("").toAbsolutePath();
  private static final Path ENTRYPOINTS = ROOT.resolve("docker/entrypoints");
  private static final Path OPTIONS =
      ROOT.resolve("src/main/resources/dev/nexa/slurm/job/backend/options");

  /** What a config file of ours is written for, by the image's file of pins. */
  private static final Map<String, List<String>> RUNNERS =
      Map.of(
          "trl.txt", List.of("trl", "transformers", "accelerate", "lm-eval"),
          "axolotl.txt", List.of("axolotl"),
          "vllm.txt", List.of("vllm"));

  @TempDir Path temp;

  @ParameterizedTest
  @CsvSource({"train-light", "train-heavy", "infer"})
  void aDockerfileIsAsItShouldBe(String name) throws IOException {
    assertThat(dockerfile(name).faults(ROOT)).isEmpty();
  }

  @ParameterizedTest(name = "{2}")
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "13.0.2-cudnn-runtime-ubuntu24.04, latest, an image without an exact tag: nvidia/cuda:latest",
        ":13.0.2-cudnn-runtime-ubuntu24.04, ``, an image without an exact tag: nvidia/cuda",
        "uv:0.13.8, uv:latest, an image without an exact tag: ghcr.io/astral-sh/uv:latest",
        "apt-get update --snapshot \"$APT_SNAPSHOT\", apt-get update, apt-get without a snapshot: apt-get update",
        "APT_SNAPSHOT=20261101T000000Z, APT_SNAPSHOT=today, APT_SNAPSHOT is not a time",
        "--no-install-recommends, ``, apt-get install with what is only recommended",
        "&& rm -rf /var/lib/apt/lists/*, && true, apt's lists stay in the layer",
        "torch==$TORCH, torch, pip without an exact version: torch",
        "torch==$TORCH, torch>=$TORCH, pip without an exact version: torch>=2.14.1",
        "--torch-backend=cu130, ``, torch without its CUDA",
        "--exclude-newer=\"$PINS_DATE\", ``, what the pins pull in has no date",
        "PINS_DATE=2026-11-21T00:00:00Z, PINS_DATE=, PINS_DATE is not a day",
        "pins/trl.txt, pins/nope.txt, no such pins: docker/pins/nope.txt",
        "COPY docker/pins/, COPY pins/, COPY of what is not there: pins/",
        "COPY docker/pins/, ADD docker/pins/, `ADD, where COPY does`",
        "ARG VERSION=0.1.0, ARG HF_TOKEN=x, a secret in a layer: HF_TOKEN=x",
        "image.licenses, image.license, no label licenses",
        "USER runner, USER root, it runs as root",
        "USER runner, ``, it runs as root",
        "uv pip check, curl -sSf example.org | sh, a download without a pin",
        "[\"/usr/local/bin/shell_entry.sh\"], [\"/usr/local/bin/x.sh\"], an entrypoint that was not copied",
        "[\"/usr/local/bin/shell_entry.sh\"], /usr/local/bin/shell_entry.sh, an entrypoint that was not copied",
      })
  void aBrokenDockerfileIsRefused(String written, String broken, String fault) throws IOException {
    String text = Files.readString(ROOT.resolve("docker/train-light.Dockerfile"));
    assertThat(text).contains(written);

    List<String> faults = new Dockerfile(text.replace(written, broken)).faults(ROOT);

    assertThat(faults).anyMatch(each -> each.startsWith(fault));
  }

  @Test
  void theImagesHoldTheReleasesThatConfigsAreWrittenFor() throws IOException {
    Map<String, String> releases = releases();
    List<String> known = new ArrayList<>(List.of("torch"));
    for (Map.Entry<String, List<String>> file : RUNNERS.entrySet()) {
      assertThat(otherReleases(pinsText(file.getKey()), file.getValue(), releases)).isEmpty();
      known.addAll(file.getValue());
    }
    for (String image : List.of("train-light", "train-heavy")) {
      assertThat(dockerfile(image).argument("TORCH")).isEqualTo(releases.get("torch"));
    }
    assertThat(known).containsExactlyInAnyOrderElementsOf(releases.keySet());
    assertThat(otherReleases(pinsText("cuda_13.0.txt"), List.of("torch"), releases)).isEmpty();
  }

  @Test
  void anotherReleaseOrNoneIsRefused() throws IOException {
    String older = pinsText("trl.txt").replace("trl==1.13.0", "trl==1.12.0");
    List<String> runners = List.of("trl", "accelerate", "vllm");

    assertThat(otherReleases(older, runners, releases()))
        .containsExactly("trl 1.12.0, expected 1.13.0", "vllm null, expected 0.24.0");
  }

  @Test
  void eachImageInstallsThePinsOfItsRunners() throws IOException {
    assertThat(dockerfile("train-light").pinFiles()).containsExactly("docker/pins/trl.txt");
    assertThat(dockerfile("train-heavy").pinFiles())
        .containsExactly(
            "docker/pins/axolotl.txt",
            "docker/pins/build.txt",
            "docker/pins/deepspeed.txt",
            "docker/pins/trl.txt");
    assertThat(dockerfile("infer").pinFiles()).containsExactly("docker/pins/vllm.txt");
  }

  @Test
  void everyPinIsExact() throws IOException {
    List<String> faults = new ArrayList<>();
    try (Stream<Path> files = Files.list(ROOT.resolve("docker/pins"))) {
      for (Path file : files.toList()) {
        assertThat(Dockerfile.pins(Files.readString(file), faults)).isNotEmpty();
      }
    }
    assertThat(faults).isEmpty();

    Dockerfile.pins("# a\ntrl>=1.13.0\npeft\nvllm==0.*\naxolotl[deepspeed]==0.18.0\n", faults);
    assertThat(faults)
        .containsExactly(
            "pip without an exact version: trl>=1.13.0",
            "pip without an exact version: peft",
            "pip without an exact version: vllm==0.*");
  }

  @ParameterizedTest
  @CsvSource({
    "nexa_light, train-light, 16g",
    "nexa_heavy, train-heavy, 32g",
    "nexa_infer, infer, 16g"
  })
  void composePublishesUnderTheSeedsTags(String service, String file, String sharedMemory)
      throws IOException {
    Compose compose = new Compose(composeText());

    assertThat(compose.services()).containsExactly("nexa_heavy", "nexa_infer", "nexa_light");
    assertThat(compose.dockerfile(service)).isEqualTo("docker/" + file + ".Dockerfile");
    assertThat(compose.faults(service, variant(dockerfile(file)), sharedMemory)).isEmpty();
  }

  @ParameterizedTest(name = "{2}")
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "nexa_light:cu130-py312-pt214, nexa_light:cu121-py311-pt22, nexa_light/image is",
        "nexa_light:latest, nexa_light:newest, nexa_light/build/tags is",
        "nexa_light:${DATE:?export DATE=YYYYMMDD first}, nexa_light:today, nexa_light/build/tags is",
        "SHM_SIZE:-16g, SHM_SIZE:-64m, nexa_light/shm_size is",
        "/home/runner/.cache/huggingface, /root/.cache/huggingface, nexa_light/volumes is",
        "context: .., context: ., nexa_light/build/context is",
        "../.env, .env, nexa_light/env_file is",
        "gpus: all, gpus: none, nexa_light/gpus is",
      })
  void aBrokenComposeFileIsRefused(String written, String broken, String fault) throws IOException {
    assertThat(composeText()).contains(written);
    Compose compose = new Compose(composeText().replace(written, broken));

    assertThat(compose.faults("nexa_light", "cu130-py312-pt214", "16g"))
        .anyMatch(each -> each.startsWith(fault));
  }

  @Test
  void aComposeFileThatIsNoYamlOrSaysAKeyTwiceIsRefused() {
    assertThatThrownBy(() -> new Compose("services: {nexa_light")).isNotNull();
    assertThatThrownBy(() -> new Compose("a: {gpus: all, gpus: none}")).isNotNull();
  }

  @Test
  void theBuildSeesNoSecret() throws IOException {
    assertThat(Files.readString(ROOT.resolve(".dockerignore")).lines())
        .filteredOn(line -> !line.startsWith("#"))
        .containsExactly("*", "!docker/entrypoints", "!docker/pins");
    assertThat(Files.readString(ROOT.resolve(".gitignore")).lines()).contains("/.env");
    assertThat(Files.readString(ROOT.resolve("docker/env.example")).lines())
        .filteredOn(line -> line.matches("#?[A-Z_]*(KEY|KEY_ID|TOKEN)=.*"))
        .hasSize(5)
        .allMatch(line -> line.endsWith("="));
  }

  @Test
  void shellcheckFindsNothingInTheEntrypoints() throws IOException {
    List<String> argv = new ArrayList<>(List.of("shellcheck", "--format=gcc"));
    for (Path script : entrypoints()) {
      assertThat(script).isExecutable();
      List<String> lines = Files.readAllLines(script);
      assertThat(lines).startsWith("#!/usr/bin/env bash").contains("set -euo pipefail");
      assertThat(lines).as("%s", script).anyMatch(line -> line.startsWith("exec "));
      argv.add(script.toString());
    }
    assertThat(argv).hasSize(6);

    CommandResult result;
    try {
      result = run(argv, Map.of());
    } catch (IOException notInstalled) {
      assertThat(System.getenv("CI")).as("in CI shellcheck is installed").isNotEqualTo("true");
      assumeTrue(false, "shellcheck is not installed");
      return;
    }

    assertThat(result.out()).isEmpty();
    assertThat(result.exit()).isZero();

    Path unquoted = Files.writeString(temp.resolve("x"), "#!/usr/bin/env bash\necho $1\n");
    assertThat(run(List.of("shellcheck", unquoted.toString()), Map.of()).exit()).isOne();
  }

  @Test
  void withAModelVllmServesIt() throws IOException {
    StandIn.bash(temp.resolve("vllm"), "printf '[%s]' \"$@\"");

    CommandResult served =
        run(
            List.of(ENTRYPOINTS.resolve("vllm_entry.sh").toString()),
            Map.of("MODEL", "my model", "TP", "2", "VLLM_EXTRA_ARGS", "--max-model-len  4096"));

    assertThat(served.out())
        .isEqualTo(
            "[serve][my model][--host][0.0.0.0][--port][8000][--tensor-parallel-size][2]"
                + "[--max-model-len][4096]");
    assertThat(served.exit()).isZero();
  }

  @Test
  void aPortThatIsNoNumberIsRefused() throws IOException {
    CommandResult refused =
        run(
            List.of(ENTRYPOINTS.resolve("vllm_entry.sh").toString()),
            Map.of("MODEL", "m", "PORT", "http"));

    assertThat(refused.err()).isEqualTo("vllm_entry.sh: PORT is 'http', expected a whole number\n");
    assertThat(refused.exit()).isEqualTo(2);
  }

  @Test
  void wordsAreRunWhetherAModelIsSetOrNot() throws IOException {
    CommandResult ran =
        run(
            List.of(ENTRYPOINTS.resolve("vllm_entry.sh").toString(), "printf", "%s|", "a b", "c"),
            Map.of("MODEL", "m"));

    assertThat(ran.out()).isEqualTo("a b|c|");
  }

  @Test
  void withoutAWritableHomeThereIsOneOfItsOwn() throws IOException {
    CommandResult ran =
        run(
            List.of(
                ENTRYPOINTS.resolve("shell_entry.sh").toString(),
                "bash",
                "-c",
                "[[ -w $HOME ]] && echo \"$HOME $USER $LOGNAME\""),
            Map.of("HOME", temp.resolve("none").toString(), "TMPDIR", temp.toString()));

    assertThat(ran.out()).matches(Pattern.quote(temp + "/home.") + "\\w+ runner runner\n");
  }

  @Test
  void withoutAModelThereIsNoServerToAskAndWithOneThereMustBe() throws IOException {
    List<String> health = List.of(ENTRYPOINTS.resolve("vllm_health.sh").toString());

    assertThat(run(health, Map.of()).exit()).isZero();
    assertThat(run(health, Map.of("MODEL", "m", "PORT", "1")).exit()).isNotZero();
  }

  private static List<String> otherReleases(
      String pinsText, List<String> runners, Map<String, String> releases) {
    List<String> faults = new ArrayList<>();
    Map<String, String> pins = Dockerfile.pins(pinsText, faults);
    for (String runner : runners) {
      String release = String.valueOf(releases.get(runner));
      if (!release.equals(pins.get(runner))) {
        faults.add(runner + " " + pins.get(runner) + ", expected " + release);
      }
    }
    return faults;
  }

  private static String variant(Dockerfile dockerfile) {
    Matcher cuda = Pattern.compile("cuda:(\\d+)\\.(\\d+)\\.").matcher(dockerfile.base());
    assertThat(cuda.find()).isTrue();
    String venv = dockerfile.of("RUN").toString();
    Matcher python = Pattern.compile("/usr/bin/python(\\d)\\.(\\d+) ").matcher(venv);
    assertThat(python.find()).isTrue();
    String[] torch = dockerfile.argument("TORCH").split("\\.", 3);
    String backend = "cu" + cuda.group(1) + cuda.group(2);
    assertThat(venv).contains("--torch-backend=" + backend);
    return backend + "-py" + python.group(1) + python.group(2) + "-pt" + torch[0] + torch[1];
  }

  /** The releases that the lists of options name in their first lines. */
  private static Map<String, String> releases() throws IOException {
    Map<String, String> releases = new TreeMap<>();
    Pattern release = Pattern.compile("(?:^# |, )([a-z-]+) (\\d+\\.\\d+\\.\\d+)(?=[: ])");
    try (Stream<Path> files = Files.list(OPTIONS)) {
      for (Path file : files.toList()) {
        if (file.endsWith("torchrun-1.13.txt")) {
          continue; // Debian's, which the tests train with
        }
        Matcher found = release.matcher(Files.readAllLines(file).get(0));
        while (found.find()) {
          String before = releases.put(found.group(1), found.group(2));
          assertThat(before).as("%s", file).isIn(null, found.group(2));
        }
      }
    }
    assertThat(releases).hasSize(7);
    return releases;
  }

  private static List<Path> entrypoints() throws IOException {
    try (Stream<Path> files = Files.list(ENTRYPOINTS)) {
      return files.sorted().toList();
    }
  }

  private static Dockerfile dockerfile(String name) throws IOException {
    return new Dockerfile(Files.readString(ROOT.resolve("docker/" + name + ".Dockerfile")));
  }

  private static String composeText() throws IOException {
    return Files.readString(ROOT.resolve("docker/compose.publish.yaml"));
  }

  private static String pinsText(String name) throws IOException {
    return Files.readString(ROOT.resolve("docker/pins/" + name));
  }

  private CommandResult run(List<String> argv, Map<String, String> more) throws IOException {
    Map<String, String> environment = new TreeMap<>(more);
    environment.put("PATH", temp + ":" + System.getenv("PATH"));
    environment.put("LC_ALL", "C.UTF-8");
    return new CommandRunner().run(new Command(argv, environment, ROOT, Duration.ofSeconds(60)));
  }
}
