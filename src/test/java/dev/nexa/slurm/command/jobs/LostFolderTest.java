package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A run whose folder somebody has moved away while its job runs: no command says that all is well.
 */
class LostFolderTest {
  @TempDir private Path folder;
  private Terminal ada;
  private RunFolder run;

  @BeforeEach
  void aRunningRunWithoutItsFolder() throws IOException {
    ada = new Terminal(folder).withSlurm();
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 1, memory: 1G, time: 2h}\n");
    ada.program("sbatch", "echo 5433");
    ada.program("sacct", ":");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    assertThat(ada.type("reconcile").exit()).isZero();
    Workspace workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    run = workspace.run(workspace.latest());
    Files.move(run.path(), folder.resolve("moved"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cancel RUN",
        "cancel latest",
        "cancel 5433",
        "status RUN",
        "logs RUN",
        "why RUN",
        "rerun RUN",
        "runs show RUN"
      })
  void aCommandAboutTheRunNamesTheFolderAndTheJob(String line) {
    Screen screen = ada.type(line.replace("RUN", run.id().value()).split(" "));

    assertThat(screen.exit()).as(screen.out()).isEqualTo(1);
    assertThat(screen.err())
        .contains("the folder of " + run.id() + " is missing: " + run.path())
        .contains("its job 5433 may still run")
        .contains("scancel 5433")
        .doesNotContain("did you mean");
  }

  @Test
  void cancelAllDoesNotSayThatNothingIsUnfinished() {
    Screen screen = ada.type("cancel", "--all", "--yes");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).contains("Nothing was cancelled.").doesNotContain("unfinished");
    assertThat(screen.err()).contains("its job 5433 may still run");
  }

  @Test
  void statusDoesNotSayThatThereAreNoRuns() {
    Screen screen = ada.type("status");

    assertThat(screen.out()).doesNotContain("No unfinished runs");
    assertThat(screen.err()).contains("its job 5433 may still run");
  }

  @Test
  void reconcileNamesTheJob() {
    Screen screen = ada.type("reconcile");

    assertThat(screen.out() + screen.err()).contains("its job 5433 may still run");
  }
}
