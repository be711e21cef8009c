package dev.nexa.slurm.command.notify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.run.notify.Receiver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A run on the real Slurm that fails, and the message about it. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class NotifyOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void theMessageBeginsWithTheFirstLineOfWhy() throws Exception {
    try (Receiver receiver = new Receiver()) {
      Person person = new Person(workspace);
      person.slurmProfile("accelerator: cpu\nhealth_check: false\n");
      Path url = Files.writeString(workspace.resolve("url"), receiver.address());
      Files.setPosixFilePermissions(url, PosixFilePermissions.fromString("rw-------"));
      Files.writeString(
          workspace.resolve("configs/policy.yaml"),
          "approval_over: {amount: 1000, currency: USD}\nnotify:\n  team: {kind: slack, url_file: "
              + url
              + ", events: [failed]}\n");
      Path file =
          Files.writeString(
              workspace.resolve("run.yaml"),
              """
              stage: train
              backend: shell
              run: |
                echo "ModuleNotFoundError: No module named 'torchh'" >&2
                exit 1
              resources: {cpus_per_task: 1, memory: 50M, time: 2m}
              """);
      JsonObject run = person.submit(file.toString());
      assertThat(person.finish(run).text("status")).isEqualTo("failed");
      person.says("reconcile");

      String id = run.text("run_id");
      String why = person.says("why", id).lines().findFirst().orElseThrow();
      assertThat(receiver.ids()).containsExactly("failed." + id);
      String[] lines = receiver.got().get(0).text("text").split("\n", -1);
      assertThat(lines[0]).isEqualTo(id + " failed");
      assertThat(why).isEqualTo(id + ": " + lines[1]);
      assertThat(lines[lines.length - 1]).isEqualTo("nexa-slurm why " + id);
    }
  }
}
