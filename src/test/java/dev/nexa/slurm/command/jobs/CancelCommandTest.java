package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code cancel} passes to scancel, and what it refuses. */
class CancelCommandTest {
  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm();
    terminal.file("array.yaml", config("array: {shards: 3}\n"));
    terminal.file("one.yaml", config(""));
  }

  private static String config(String more) {
    return "stage: train\nbackend: shell\nrun: 'true'\n" + more + "resources: {time: 10m}\n";
  }

  private String submit(String config, int job) {
    terminal.program("sbatch", "echo " + job);
    return terminal.type("submit", config, "--json").json().text("run_id");
  }

  @Test
  void severalRunsAreCancelledTogether() {
    String array = submit("array.yaml", 4711);
    String one = submit("one.yaml", 4712);

    Screen screen = terminal.type("cancel", array, one);

    assertThat(screen.exit()).isZero();
    assertThat(screen.out())
        .contains(array + ": Cancelling job 4711.", one + ": Cancelling job 4712.");
  }

  @Test
  void aMistypedRunCancelsNothing() {
    String one = submit("one.yaml", 4711);

    Screen screen = terminal.type("cancel", one, "nope");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("there is no run 'nope'");
    assertThat(Files.exists(terminal.bin.resolve("scancel.argv"))).isFalse();
  }

  @Test
  void anOptionNamesATask() {
    String array = submit("array.yaml", 4711);

    assertThat(terminal.type("cancel", array, "--task", "2").out())
        .startsWith("Cancelling task 4711_2.");
    assertThat(terminal.type("cancel", array, "--task", "3").err())
        .contains("there is no task 3: " + array + " has tasks 0 to 2");
    assertThat(terminal.type("cancel", "4711_1", "--task", "2").err())
        .contains("--task 2 and 4711_1 name different tasks");
    assertThat(terminal.type("cancel", array, array, "--task", "2").err())
        .contains("--task 2 names a task of one run, and the command names 2 runs");
  }

  @Test
  void theOnlyTaskIsTheWholeRun() {
    String one = submit("one.yaml", 4711);

    assertThat(terminal.type("cancel", one, "--task", "0").out())
        .startsWith("Cancelling job 4711.");
  }

  @Test
  void aCommandForOneRunSaysSo() {
    assertThat(terminal.type("why", "a", "b").err())
        .contains("`nexa-slurm why` takes one run; the command names 'b' too")
        .contains("type one command for each run: nexa-slurm why b");
  }
}
