package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A command in a running task, on the real Slurm and on this machine. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class ShellOnSlurmTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
  }

  /**
   * The task's program sees files that nobody else sees, as a program in a container does. With one
   * processor, only one task runs at once without Slurm.
   */
  @ParameterizedTest
  @ValueSource(strings = {"slurm", "local"})
  void aCommandHasTheTasksVariablesItsFolderAndItsFiles(String scheduler) throws Exception {
    person.slurmProfile("scheduler: " + scheduler + "\nhealth_check: false\naccelerator: cpu\n");
    Path config =
        Files.writeString(
            workspace.resolve("run.yaml"),
            """
            stage: eval
            backend: shell
            run: |
              export FLAVOUR=vanilla$NEXA_TASK
              cd /mnt
              exec unshare --mount sh -c 'mount -t tmpfs none /mnt && cd /mnt && echo mine >inside && touch "$1/ready.$2" && { [ $2 = 0 ] || sleep 250; }' x %s "$NEXA_TASK"
            array: {shards: 2}
            resources: {cpus_per_task: 1, memory: 50M, time: 5m}
            """
                .formatted(workspace));
    JsonObject run = person.submit(config.toString());
    String id = run.text("run_id");
    Person.await(workspace.resolve("ready.1"));

    Typed typed =
        type(
            "shell",
            "--task",
            "1",
            id,
            "--",
            "sh",
            "-c",
            "echo $FLAVOUR $NEXA_RUN_ID $PWD $(cat inside); exit 7");

    assertThat(typed.out().strip()).isEqualTo("vanilla1 " + id + " /mnt mine");
    assertThat(typed.exit()).isEqualTo(7);
    Typed elsewhere = type("shell", id, "--node", "n99", "--", "true");
    assertThat(elsewhere.exit()).isEqualTo(2);
    assertThat(Files.readString(workspace.resolve("err")))
        .containsPattern(
            scheduler.equals("local")
                ? "--node n99: " + id + " runs on this machine, without Slurm"
                : "--node n99: task \\d of " + id + " runs on the node n\\d");
    person.says("cancel", id);
    person.finish(run);
    Typed ended = type("shell", id);
    assertThat(ended.exit()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
  }

  private record Typed(int exit, String out) {}

  /** In a process of its own: the command inherits its input and output. */
  private Typed type(String... arguments) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(OwnJvm.words(Main.class, arguments));
    builder.environment().put("NEXA_WORKSPACE", workspace.toString());
    builder.redirectError(workspace.resolve("err").toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Typed(process.waitFor(), out);
  }
}
