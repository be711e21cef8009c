package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Terminal;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The view in a real pseudo-terminal, which tmux holds. */
class WatchTerminalTest {
  @TempDir Path folder;

  private Terminal terminal;
  private String run;

  @BeforeEach
  void submit() throws IOException {
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
        "[ ! -e "
            + folder
            + "/outage ] || { echo 'Unable to contact slurm controller' >&2; exit 1; }\n"
            + Terminal.queueRow(4711, 0, "PENDING", "Resources", key));
    Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + run + "/logs"));
    Files.writeString(logs.resolve("4711_0.out"), "first line\n\u001b]52;c;aGk=\u0007 last\n");
  }

  @AfterEach
  void endTmux() throws IOException {
    tmux("kill-server");
  }

  /** Starts the view; the shell around it shows the exit status and the terminal's settings. */
  private void start() throws IOException {
    String classes =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(entry -> Path.of(entry).toAbsolutePath().toString())
            .collect(Collectors.joining(File.pathSeparator));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Path shell = folder.resolve("view.sh");
    Files.writeString(
        shell,
        "stty -a | sed 's/rows [0-9]*; columns [0-9]*//' >"
            + folder
            + "/before\nenv PATH="
            + terminal.bin
            + ":/usr/bin:/bin NEXA_WORKSPACE="
            + terminal.workspace
            + " sh -c 'echo $$ >"
            + folder
            + "/pid; exec "
            + java
            + " -XX:TieredStopAtLevel=1 -cp "
            + classes
            + " "
            + Main.class.getName()
            + " status --watch 1s'\necho EXIT $?\n"
            + "stty -a | sed 's/rows [0-9]*; columns [0-9]*//' >"
            + folder
            + "/after; cmp "
            + folder
            + "/before "
            + folder
            + "/after && echo RESTORED\nread -r _\n");
    tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "sh " + shell);
  }

  private String tmux(String... words) throws IOException {
    List<String> argv = new ArrayList<>(List.of("tmux", "-S", folder.resolve("tmux").toString()));
    argv.addAll(List.of(words));
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    argv,
                    Map.of("PATH", "/usr/bin:/bin", "LC_ALL", "C.UTF-8", "HOME", folder.toString()),
                    folder,
                    Duration.ofMinutes(1)));
    return result.out();
  }

  private String screen() throws IOException {
    return tmux("capture-pane", "-p", "-t", "w");
  }

  private String until(String text) throws Exception {
    String screen = "";
    for (int i = 0; i < 600; i++) {
      screen = screen();
      if (screen.contains(text)) {
        return screen;
      }
      Thread.sleep(100);
    }
    throw new AssertionError("'" + text + "' never came:\n" + screen);
  }

  private void press(String key) throws IOException {
    tmux("send-keys", "-t", "w", key);
  }

  @Test
  void keysAnOutageAnotherSizeAndTheEnd() throws Exception {
    start();

    until("log      ^[]52;c;aGk=^G last");
    assertThat(screen())
        .contains("nexa-slurm status  1 unfinished run", run, "why      ", "q quit");
    press("l");
    assertThat(until("log of " + run)).contains("first line");
    press("q");
    press("c");
    until("Cancel " + run + "? 1 task: 1 pending  y/n");
    press("n");
    until("Nothing was cancelled.");
    assertThat(terminal.bin.resolve("scancel.argv")).doesNotExist();
    Files.createFile(folder.resolve("outage"));
    assertThat(until("no answer since")).contains("Unable to contact", run);
    Files.delete(folder.resolve("outage"));
    for (int i = 0; i < 600 && screen().contains("no answer since"); i++) {
      Thread.sleep(100);
    }
    assertThat(screen()).doesNotContain("no answer since");
    tmux("resize-window", "-t", "w", "-x", "200", "-y", "50");
    for (int i = 0; i < 600 && screen().lines().count() < 50; i++) {
      Thread.sleep(100);
    }
    until("-".repeat(200));
    press("c");
    until("y/n");
    press("y");
    until("Cancelling job 4711");
    assertThat(terminal.argv("scancel")).isNotEmpty();
    press("q");
    assertThat(until("RESTORED")).contains("EXIT 0").doesNotContain("unfinished run");
  }

  @Test
  void ctrlCRestoresTheTerminal() throws Exception {
    start();
    until(run);

    press("C-c");

    assertThat(until("RESTORED")).contains("EXIT 130").doesNotContain("unfinished run");
  }

  @Test
  void sigtermRestoresTheTerminal() throws Exception {
    start();
    until(run);

    ProcessHandle.of(Long.parseLong(Files.readString(folder.resolve("pid")).strip()))
        .orElseThrow()
        .destroy();

    assertThat(until("RESTORED")).contains("EXIT 143").doesNotContain("unfinished run");
  }
}
