package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Pane;
import dev.nexa.slurm.command.Terminal;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --wait} on a real terminal: a line in place says how many tasks have ended. */
class WaitOnTerminalTest {
  private static final String LINE = "waiting for the end";

  @TempDir Path folder;

  @Test
  void theLineCountsTheTasksAndIsGoneAtTheEnd() throws Exception {
    Path go = folder.resolve("go");
    Terminal terminal =
        new Terminal(folder)
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\narray: {shards: 2}\n"
                    + "run: '[ $NEXA_TASK = 0 ] || while [ ! -e "
                    + go
                    + " ]; do sleep 0.1; done'\n"
                    + "resources: {cpus_per_task: 1, memory: 100M, time: 10m}\n");
    try (Pane pane = new Pane(folder)) {
      pane.start(
          "env PATH=/usr/bin:/bin NEXA_WORKSPACE="
              + terminal.workspace
              + " "
              + Pane.program()
              + " submit "
              + terminal.workspace.resolve("run.yaml")
              + " --local --wait\necho EXIT $?");

      String waiting = pane.until("1 of 2 tasks");
      Files.writeString(go, "");

      assertThat(waiting.lines().filter(line -> line.startsWith(LINE)))
          .hasSize(1)
          .allMatch(line -> line.contains("] 50%  1 of 2 tasks, "));
      assertThat(pane.until("EXIT 0")).contains("completed, cost ").doesNotContain(LINE);
    }
  }
}
