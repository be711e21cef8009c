package dev.nexa.slurm.images;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docker/bootstrap_env.sh with a stand-in for uv, which Debian does not have. */
class BootstrapEnvTest {
  private static final Path ROOT = Path.of("").toAbsolutePath();

  @TempDir Path temp;
  private Path project;

  @BeforeEach
  void begin() throws IOException {
    project = Files.createDirectories(temp.resolve("my project"));
    Files.createDirectory(project.resolve(".venv"));
    Files.writeString(
        project.resolve("uv.lock"),
        """
        version = 1

        [[package]]
        name = "sympy"
        version = "1.14.0"
        source = { registry = "https://pypi.org/simple" }

        [[package]]
        name = "torch"
        version = "2.9.1"
        source = { registry = "https://pypi.org/simple" }
        dependencies = [
            { name = "nvidia-cufile-cu12" },
        ]

        [[package]]
        name = "nvidia-cufile-cu12"
        version = "1.13.1.3"
        source = { registry = "https://pypi.org/simple" }

        [[package]]
        name = "numpy"
        version = "2.1.0"
        source = { registry = "https://pypi.org/simple" }
        """);
    StandIn.bash(
        temp.resolve("uv"),
        """
        echo "$*" >>"${0%/*}/called"
        [[ $2 != freeze ]] || printf '%s\\n' -e\\ file:///w numpy==2.1.0 sympy==1.13.1 torch==2.6.0+cu124
        [[ $2 != "${FAILS:-}" ]]""");
  }

  private CommandResult boot(Map<String, String> more, String... words) throws IOException {
    List<String> argv = new ArrayList<>(List.of(ROOT + "/docker/bootstrap_env.sh"));
    argv.addAll(List.of(words));
    Map<String, String> environment = new TreeMap<>(more);
    environment.put("PATH", temp + ":" + System.getenv("PATH"));
    return new CommandRunner().run(new Command(argv, environment, temp, Duration.ofMinutes(1)));
  }

  @Test
  void theLockIsInstalledThenThePinsAndWhatCameBesideTheLockIsKept() throws IOException {
    CommandResult booted = boot(Map.of("CUDA_VERSION", "12.4.1"), project.toString());

    assertThat(booted.err()).isEmpty();
    assertThat(booted.exit()).isZero();
    String python = "--python=" + project + "/.venv";
    assertThat(temp.resolve("called"))
        .hasContent(
            """
            sync --locked --inexact --no-install-package torch --no-install-package torchvision \
            --no-install-package torchaudio --no-install-package triton --no-install-package xformers \
            --no-install-package nvidia-cufile-cu12
            pip install %s --torch-backend=cu124 -r %s/docker/pins/cuda_12.4.txt
            pip check %s
            pip freeze %s
            """
                .formatted(python, ROOT, python, python));
    assertThat(Files.readAllLines(project.resolve(".venv/nexa_pins.txt")))
        .filteredOn(line -> !line.startsWith("#"))
        .containsExactly(
            "sympy==1.13.1",
            "torch==2.6.0+cu124",
            "torchvision",
            "torchaudio",
            "triton",
            "xformers",
            "nvidia-cufile-cu12");
  }

  @ParameterizedTest
  @CsvSource({
    "12.4, cuda_12.4.txt",
    "12.8.1, cuda_12.4.txt",
    "13.0.2, cuda_13.0.txt",
    "13.2, cuda_13.0.txt"
  })
  void theNewestPinsThatTheMachineAllowsAreTaken(String cuda, String pins) throws IOException {
    assertThat(boot(Map.of("CUDA_VERSION", cuda), project.toString()).out())
        .startsWith("bootstrap_env.sh: " + project + "/.venv gets uv.lock and " + pins + "\n");
  }

  @Test
  void theDriverIsAskedWhereNoImageTellsItsCuda() throws IOException {
    StandIn.bash(
        temp.resolve("nvidia-smi"),
        "echo '| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4     |'");

    assertThat(boot(Map.of(), project.toString()).out()).contains(" and cuda_12.4.txt\n");
  }

  @Test
  void whatCannotBeDoneIsRefusedWithTheNextStep() throws IOException {
    Path other = Files.createDirectory(temp.resolve("other"));
    assertThat(refused(Map.of("CUDA_VERSION", "13.0"), other.toString()))
        .endsWith("/other has no uv.lock. Next: cd " + other + " && uv lock\n");
    assertThat(refused(Map.of("CUDA_VERSION", "11.8"), project.toString()))
        .contains("there are no pins for CUDA 11.8 or older: name one of " + ROOT + "/docker/pins");
    assertThat(refused(Map.of(), project.toString(), "pins.txt"))
        .endsWith("pins.txt: expected a file named cuda_X.Y.txt\n");
    assertThat(refused(Map.of())).contains("expected FOLDER [docker/pins/cuda_X.Y.txt]");
    assertThat(temp.resolve("called")).doesNotExist();
  }

  @Test
  void anInstallThatFailsKeepsNoPins() throws IOException {
    CommandResult failed =
        boot(Map.of("CUDA_VERSION", "12.4", "FAILS", "install"), project.toString());

    assertThat(failed.exit()).isOne();
    assertThat(project.resolve(".venv/nexa_pins.txt")).doesNotExist();
  }

  private String refused(Map<String, String> more, String... words) throws IOException {
    CommandResult refused = boot(more, words);
    assertThat(refused.exit()).isEqualTo(2);
    return refused.err();
  }
}
