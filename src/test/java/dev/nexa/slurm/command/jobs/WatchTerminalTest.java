package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Pane;
import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The view in a real terminal. */
class WatchTerminalTest {
  @TempDir Path folder;

  private Pane pane;
  private Terminal terminal;
  private String run;

  @BeforeEach
  void submit() throws IOException {
    pane = new Pane(folder);
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nrun: 'true'\nresources: {time: 10m, memory: 1G}\n");
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    run = json.text("run_id");
    String key = json.objects("jobs").get(0).text("name");
    terminal.program(
        "squeue",
        "while [ -e "
            + folder
            + "/hang ]; do sleep 0.1; done\n[ ! -e "
            + folder
            + "/outage ] || { echo 'Unable to contact slurm controller' >&2; exit 1; }\n"
            + Terminal.queueRow(4711, 0, "PENDING", "Resources", key));
    Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + run + "/logs"));
    Files.writeString(logs.resolve("4711_0.out"), "first line\n\u001b]52;c;aGk=\u0007 last\n");
  }

  @AfterEach
  void endTmux() throws IOException {
    pane.close();
  }

  /** Starts the view; the shell around it shows the exit status and the terminal's settings. */
  private void start() throws IOException {
    pane.start(
        "stty -a | sed 's/rows [0-9]*; columns [0-9]*//' >"
            + folder
            + "/before\nenv PATH="
            + terminal.bin
            + ":/usr/bin:/bin NEXA_WORKSPACE="
            + terminal.workspace
            + " sh -c 'echo $$ >"
            + folder
            + "/pid; exec "
            + Pane.program()
            + " status --watch 1s'\necho EXIT $?\n"
            + "stty -a | sed 's/rows [0-9]*; columns [0-9]*//' >"
            + folder
            + "/after; cmp "
            + folder
            + "/before "
            + folder
            + "/after && echo RESTORED");
  }

  @Test
  void keysAnOutageAnotherSizeAndTheEnd() throws Exception {
    start();

    pane.until("log      ^[]52;c;aGk=^G last");
    assertThat(pane.screen())
        .contains("nexa-slurm status  1 unfinished run", run, "why      ", "q quit");
    pane.press("l");
    assertThat(pane.until("log of " + run)).contains("first line");
    pane.press("q");
    pane.press("c");
    pane.until("Cancel " + run + "? 1 task: 1 pending  y/n");
    pane.press("n");
    pane.until("Nothing was cancelled.");
    assertThat(terminal.bin.resolve("scancel.argv")).doesNotExist();
    Files.createFile(folder.resolve("outage"));
    assertThat(pane.until("no answer since")).contains("Unable to contact", run);
    Files.delete(folder.resolve("outage"));
    for (int i = 0; i < 600 && pane.screen().contains("no answer since"); i++) {
      Thread.sleep(100);
    }
    assertThat(pane.screen()).doesNotContain("no answer since");
    pane.tmux("resize-window", "-t", "w", "-x", "200", "-y", "50");
    for (int i = 0; i < 600 && pane.screen().lines().count() < 50; i++) {
      Thread.sleep(100);
    }
    pane.until("-".repeat(200));
    pane.press("c");
    pane.until("y/n");
    pane.press("y");
    pane.until("Cancelling job 4711");
    assertThat(terminal.argv("scancel")).isNotEmpty();
    pane.press("q");
    assertThat(pane.until("RESTORED")).contains("EXIT 0").doesNotContain("unfinished run");
  }

  @Test
  void aSchedulerThatHangsIsSaidUntilItAnswers() throws Exception {
    start();
    pane.until(run);
    Files.createFile(folder.resolve("hang"));

    assertThat(pane.until("no answer since")).contains("Slurm has not answered yet", run);
    Files.delete(folder.resolve("hang"));
    for (int i = 0; i < 600 && pane.screen().contains("no answer since"); i++) {
      Thread.sleep(100);
    }
    assertThat(pane.screen()).doesNotContain("no answer since").contains(run);
    pane.press("q");
    pane.until("RESTORED");
  }

  @Test
  void ctrlCRestoresTheTerminal() throws Exception {
    start();
    pane.until(run);

    pane.press("C-c");

    assertThat(pane.until("RESTORED")).contains("EXIT 130").doesNotContain("unfinished run");
  }

  /** JLine closes the terminal on a signal, too: ours must come first, each time. */
  @RepeatedTest(4)
  void sigtermRestoresTheTerminal() throws Exception {
    start();
    pane.until(run);

    ProcessHandle.of(Long.parseLong(Files.readString(folder.resolve("pid")).strip()))
        .orElseThrow()
        .destroy();

    assertThat(pane.until("RESTORED"))
        .contains("EXIT 143")
        .doesNotContain("unfinished run", "Exception");
  }
}
