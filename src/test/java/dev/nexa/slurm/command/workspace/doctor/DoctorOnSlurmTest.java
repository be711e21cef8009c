package dev.nexa.slurm.command.workspace.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class DoctorOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void aClusterIsWellUntilTheProfileIsWrong() throws IOException {
    Person person = new Person(workspace, Map.of("NEXA_CLUSTER", "default"));
    person.json("init", "--json");

    assertThat(results(person))
        .containsEntry("slurm", "ok")
        .containsEntry("profile", "ok")
        .containsEntry("accounting", "ok")
        .containsEntry("limits", "ok");

    Path profile = workspace.resolve("configs/clusters/default.yaml");
    String text = Files.readString(profile);
    Files.writeString(profile, text.replaceFirst("(?m)^  cpu:", "  fast: {}\n  cpu:"));

    assertThat(results(person))
        .containsEntry("profile", "advice")
        .containsEntry("limits", "failed")
        .containsEntry("slurm", "ok");
  }

  private static Map<String, String> results(Person person) {
    Map<String, String> results = new TreeMap<>();
    JsonObject answer = person.json("doctor", "--json", "slurm", "profile", "accounting", "limits");
    for (JsonObject one : answer.objects("findings")) {
      results.put(one.text("check"), one.text("result"));
    }
    return results;
  }
}
