package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A profile without partitions on the real Slurm: its partitions are gpu and cpu, MaxTime 2 days.
 */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class PartitionsOnSlurmTest {
  @TempDir Path folder;

  @Test
  void aWrongPartitionAndATimeAboveMaxTimeMakeNoRun() {
    Terminal terminal = new Terminal(folder).with("PATH", System.getenv("PATH"));
    terminal.file(
        "run.yaml",
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m, memory: 50M}\n");

    for (String command : new String[] {"estimate", "submit"}) {
      Screen partition = terminal.type(command, "run.yaml", "--partition", "gpuu");
      assertThat(partition.exit()).isEqualTo(2);
      assertThat(partition.err()).contains("Slurm has no partition 'gpuu' (did you mean 'gpu'?)");
      Screen time = terminal.type(command, "run.yaml", "--time", "4d");
      assertThat(time.exit()).isEqualTo(2);
      assertThat(time.err()).contains("you ask for a time limit of 4 days; partition 'gpu'");
    }
    assertThat(terminal.workspace.resolve("runs")).doesNotExist();
    Screen fine = terminal.type("estimate", "run.yaml", "--partition", "cpu", "--time", "1d");
    assertThat(fine.out()).contains("partition cpu (+", "Would start ");
  }

  @Test
  void aScriptWithoutAConfigRuns() throws Exception {
    Person person = new Person(folder);
    person.slurmProfile("");
    Files.writeString(folder.resolve("hello.py"), "import sys\nprint('hello', sys.argv[1:])\n");

    JsonObject run =
        person.submit(
            "hello.py", "--cluster", "test", "--time", "5m", "--mem", "50M", "--", "--lr", "a b");

    assertThat(person.finish(run).text("state")).isEqualTo("completed");
    assertThat(person.logs(run)).contains("hello ['--lr', 'a b']");
  }
}
