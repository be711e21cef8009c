package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** templates/lib/check_uv.sh: which name and version of a folder are those of uv.lock. */
class CheckUvTest {
  @TempDir Path project;

  @ParameterizedTest(name = "{0} {1}, installed {2}: {3}")
  @CsvSource({
    "torch, 2.7.1, torch-2.7.1, true",
    "torch, 2.7.1, torch-2.7.10, false",
    "torch, 2.7.1, torch-2.7.1+cu128, false",
    "torch, 2.6.0+cu124, torch-2.6.0+cu124, true",
    "typing-extensions, 4.12.2, Typing_Extensions-4.12.2, true",
    "ruamel-yaml, 0.18.6, ruamel.yaml-0.18.6, true",
    "certifi, 2024.2.2, certifi-2024.02.02, true",
    "pytz, 2024.1, pytz-2024.10, false",
    "click, 8.0, click-8.0.0, true",
    "a, 10.0.1, a-10.0.1, true",
    "flash-attn, 2.7.4.post1+cu12abifalse, flash_attn-2.7.4.post1+cu12abiFALSE, true",
    "torch, 2.7.1, ~orch-2.6.0, true",
  })
  void versionsAreComparedAsPythonDoes(String name, String locked, String installed, boolean agrees)
      throws IOException {
    lock("name = \"%s\"\nversion = \"%s\"\n".formatted(name, locked), installed);

    CommandResult checked = check();

    assertThat(checked.exit()).as(checked.err()).isEqualTo(agrees ? 0 : 1);
    assertThat(checked.err().contains("does not agree with uv.lock: ")).isNotEqualTo(agrees);
  }

  /** A lock has two versions of a package where Pythons or machines differ; an own project none. */
  @ParameterizedTest
  @CsvSource({"1.26.4, true", "2.1.0, true", "2.2.0, false"})
  void eachVersionThatTheLockHasWillDo(String installed, boolean agrees) throws IOException {
    lock(
        """
        name = "numpy"
        version = "1.26.4"

        [[package]]
        name = "numpy"
        version = "2.1.0"

        [[package]]
        name = "own"
        version = "3"
        source = { virtual = "." }

        [[package]]
        name = "moving"
        source = { directory = "../moving" }
        """,
        "numpy-" + installed,
        "own-2",
        "moving-1");

    CommandResult checked = check();

    assertThat(checked.exit()).as(checked.err()).isEqualTo(agrees ? 0 : 1);
    if (!agrees) {
      assertThat(checked.err()).contains(": numpy is 2.2.0 and should be 1.26.4 or 2.1.0; the");
    }
  }

  private void lock(String packages, String... installed) throws IOException {
    Files.writeString(project.resolve("uv.lock"), "version = 1\n\n[[package]]\n" + packages);
    Path venv = project.resolve(".venv");
    Files.createDirectories(venv.resolve("bin"));
    Files.writeString(venv.resolve("bin/activate"), "");
    for (String name : installed) {
      Files.createDirectories(venv.resolve("lib/python3.11/site-packages/" + name + ".dist-info"));
    }
  }

  private CommandResult check() throws IOException {
    return new CommandRunner()
        .run(
            new Command(
                List.of("bash", "templates/lib/check_uv.sh", project.toString()),
                Map.of("PATH", "/usr/bin:/bin"),
                Path.of("").toAbsolutePath(),
                Duration.ofMinutes(1)));
  }
}
