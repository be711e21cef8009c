package dev.nexa.slurm.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cli.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InitCommandTest {
  @TempDir Path folder;

  @Test
  void aStarterWorkspaceIsWrittenAndItsConfigsWork() {
    Terminal terminal = new Terminal(folder);

    Screen first = terminal.type("init");

    assertThat(first.exit()).isZero();
    assertThat(first.out()).contains("wrote ").contains("configs/clusters/default.yaml");
    assertThat(terminal.workspace.resolve("configs/policy.yaml")).isRegularFile();
    for (String config : List.of("train/science.yaml", "data/quickstart.yaml")) {
      Path own = terminal.workspace.resolve("configs").resolve(config);
      assertThat(terminal.type("render", own.toString()).exit()).as(config).isZero();
    }
  }

  @Test
  void whatIsThereIsLeftAlone() throws IOException {
    Terminal terminal = new Terminal(folder).file("configs/policy.yaml", "mine");

    terminal.type("init");
    Screen second = terminal.type("init");

    assertThat(Files.readString(terminal.workspace.resolve("configs/policy.yaml")))
        .isEqualTo("mine");
    assertThat(second.out()).isEqualTo("everything is there already\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"configs/train/science.yaml", "configs/data/quickstart.yaml"})
  void theShippedConfigsNeedNoApproval(String config) {
    Screen estimate = new Terminal(folder).type("estimate", config);

    assertThat(estimate.exit()).isZero();
    assertThat(estimate.out()).startsWith("At most ").contains("No approval needed");
  }
}
