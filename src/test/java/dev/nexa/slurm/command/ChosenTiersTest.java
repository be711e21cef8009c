package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A shell without the NEXA_DURABLE of the submit. */
class ChosenTiersTest {
  @TempDir private Path folder;

  private Terminal submitted() throws IOException {
    Terminal ada = new Terminal(folder).withSlurm();
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\nstorage: {scratch: /scratch, durable: '${env:NEXA_DURABLE:-"
            + folder.resolve("usual")
            + "}', shared: /shared}\n");
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 1, memory: 1G, time: 2h}\n");
    ada.program("sbatch", "echo 100");
    Files.createDirectories(folder.resolve("usual"));
    Files.createDirectories(folder.resolve("mine"));
    assertThat(ada.with("NEXA_DURABLE", folder + "/mine").type("submit", "run.yaml").exit())
        .isZero();
    return ada;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "halt",
        "halt --cluster default",
        "release list",
        "datasets list --cluster default"
      })
  void isToldThatTheNewestRunUsesAnother(String command) throws IOException {
    Terminal ada = submitted();
    ada.with("NEXA_DURABLE", folder.resolve("usual").toString());

    Screen screen = ada.type(command.split(" ", -1));

    assertThat(screen.err())
        .containsPattern(
            "note: the newest run, train_\\S+, keeps its files on "
                + folder.resolve("mine")
                + ", and this command looks at "
                + folder.resolve("usual"));
    ada.with("NEXA_DURABLE", folder + "/mine/../mine");
    assertThat(ada.type(command.split(" ", -1)).err()).doesNotContain("the newest run");
  }

  @Test
  void aRunOfAnotherProfileSaysNothing() throws IOException {
    Terminal ada = submitted();
    ada.file(
        "configs/clusters/other.yaml",
        "scheduler: slurm\nstorage: {scratch: /s, durable: " + folder + "/third, shared: /h}\n");

    assertThat(ada.type("release", "list", "--cluster", "other").err())
        .doesNotContain("the newest run");
  }
}
