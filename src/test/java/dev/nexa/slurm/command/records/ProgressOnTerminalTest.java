package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Pane;
import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The progress of a pass whose squeue takes long, on a real terminal. */
class ProgressOnTerminalTest {
  private static final String LINE = "reconciling";

  @TempDir Path folder;
  private Pane pane;
  private Terminal terminal;

  @BeforeEach
  void submit() {
    pane = new Pane(folder);
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nrun: 'true'\nresources: {time: 10m, memory: 1G}\n");
    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
    terminal.program("squeue", "while [ ! -e " + folder + "/go ]; do /bin/sleep 0.1; done");
  }

  @AfterEach
  void end() throws IOException {
    // Also ends a squeue that still waits.
    Files.writeString(folder.resolve("go"), "");
    pane.close();
  }

  private void start(String arguments) throws IOException {
    pane.start(
        "trap : INT\nenv PATH="
            + terminal.bin
            + ":/usr/bin:/bin NEXA_WORKSPACE="
            + terminal.workspace
            + " "
            + Pane.program()
            + " reconcile "
            + arguments
            + "\necho EXIT $?");
  }

  @Test
  void theLineIsDrawnInPlaceAndGone() throws Exception {
    start("");

    // On a busy machine the line of the journals comes first.
    String first = pane.until(LINE + " [").lines().findFirst().orElse("");
    assertThat(first).startsWith(LINE + " [").contains("] 0%  0 of 1 runs, 0.0/s, ");
    for (int i = 0; i < 600 && pane.screen().startsWith(first); i++) {
      Thread.sleep(100);
    }
    assertThat(pane.screen().lines().filter(line -> line.startsWith(LINE))).hasSize(1);
    Files.writeString(folder.resolve("go"), "");

    assertThat(pane.until("EXIT 0")).startsWith("1 unfinished runs, ").doesNotContain(LINE);
  }

  @Test
  void aDocumentHasStandardOutputForItself() throws Exception {
    start("--json >" + folder + "/document");
    pane.until("so far");

    Files.writeString(folder.resolve("go"), "");

    assertThat(pane.until("EXIT 0")).doesNotContain(LINE);
    assertThat(folder.resolve("document")).content().startsWith("{").doesNotContain(LINE);
  }

  @Test
  void ctrlCLeavesAnEmptyLine() throws Exception {
    start("");
    pane.until("so far");

    pane.press("C-c");

    assertThat(pane.until("EXIT 130")).doesNotContain(LINE);
  }
}
