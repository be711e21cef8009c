package dev.nexa.slurm.command.workspace.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.records.approvals.Keys;
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
        .containsEntry("profile", "failed")
        .containsEntry("limits", "failed")
        .containsEntry("slurm", "ok");
  }

  /** Without AccountingStorageEnforce=qos, Slurm takes a job of a QOS that does not exist. */
  @Test
  void aQosThatSubmitRefusesIsFound() throws IOException {
    Person person = new Person(workspace, Map.of("NEXA_CLUSTER", "default"));
    person.json("init", "--json");
    assertThat(person.json("doctor", "--timeout", "5m", "--json", "job").text("result"))
        .isEqualTo("ok");
    Path profile = workspace.resolve("configs/clusters/default.yaml");
    Files.writeString(profile, Files.readString(profile) + "qos: stxnone\n");

    JsonObject found =
        person.json("doctor", "--timeout", "5m", "--json", "job").objects("findings").get(0);

    assertThat(found.text("result")).isEqualTo("failed");
    assertThat(found.text("says")).contains("no QOS 'stxnone'");
    assertThat(found.texts("remedies")).singleElement().asString().contains(profile.toString());
  }

  /** The first version told to replace the profile, and the account and the tiers were lost. */
  @Test
  void aWrongProfileIsCorrectedByItsKeysAndByNothingElse() throws IOException {
    Person person = new Person(workspace, Map.of("NEXA_CLUSTER", "default"));
    person.json("init", "--json");
    Path profile = workspace.resolve("configs/clusters/default.yaml");
    String right = Files.readString(profile) + "account: research  # ours\n";
    String wrong =
        right
            .replace("gpu_type: h100", "gpu_type: a100")
            .replaceAll("max_nodes: \\d+", "max_nodes: 99");
    assertThat(wrong.replace("max_nodes: 99", "")).doesNotContain("h100").contains("a100");
    Files.writeString(profile, wrong);

    JsonObject found =
        person.json("doctor", "--timeout", "5m", "--json", "profile").objects("findings").get(0);

    assertThat(found.text("result")).isEqualTo("failed");
    assertThat(found.texts("remedies"))
        .singleElement()
        .asString()
        .startsWith("sed -i --follow-symlinks -e ");
    Keys.run(workspace, "bash", "-c", found.texts("remedies").get(0));
    assertThat(profile).hasContent(right);
    assertThat(person.json("doctor", "--timeout", "5m", "--json", "profile").text("result"))
        .isEqualTo("ok");

    Files.writeString(profile, wrong.replaceAll(" *max_nodes: 99,?", ""));
    assertThat(
            person
                .json("doctor", "--timeout", "5m", "--json", "profile")
                .objects("findings")
                .get(0)
                .texts("remedies"))
        .anyMatch(
            it -> it.matches("vi \\+\\d+ " + profile + "  # write partitions.cpu.max_nodes: .*"));
  }

  @Test
  void aPartitionThatTheClusterRenamedIsRenamed() throws IOException {
    Person person = new Person(workspace, Map.of("NEXA_CLUSTER", "default"));
    person.json("init", "--json");
    Path profile = workspace.resolve("configs/clusters/default.yaml");
    String right = Files.readString(profile);
    Files.writeString(
        profile,
        right
            .replace("  gpu:", "  gpus_2025:")
            .replace("default_partition: gpu", "default_partition: gpus_2025"));
    assertThat(profile).content().contains("default_partition: gpus_2025", "  gpus_2025:");

    JsonObject found =
        person.json("doctor", "--timeout", "5m", "--json", "profile").objects("findings").get(0);

    assertThat(found.text("result")).isEqualTo("failed");
    assertThat(found.text("says"))
        .contains("partitions.gpu is only on the cluster", "partitions.gpus_2025 is only here");
    assertThat(found.texts("remedies")).hasSize(1);
    Keys.run(workspace, "bash", "-c", found.texts("remedies").get(0));
    assertThat(profile).hasContent(right);
  }

  /** A full disk left it empty. */
  @Test
  void anEmptyProfileIsReadOffTheClusterAgain() throws IOException {
    Person person = new Person(workspace, Map.of("NEXA_CLUSTER", "default"));
    person.json("init", "--json");
    Files.writeString(workspace.resolve("configs/clusters/default.yaml"), "");

    JsonObject found =
        person.json("doctor", "--timeout", "5m", "--json", "profile").objects("findings").get(0);

    assertThat(found.texts("remedies").get(0)).contains("nexa-slurm").contains(" init  #");
    person.json("init", "--json");
    assertThat(results(person)).containsEntry("profile", "ok");
  }

  private static Map<String, String> results(Person person) {
    Map<String, String> results = new TreeMap<>();
    JsonObject answer =
        person.json(
            "doctor", "--timeout", "5m", "--json", "slurm", "profile", "accounting", "limits");
    for (JsonObject one : answer.objects("findings")) {
      results.put(one.text("check"), one.text("result"));
    }
    return results;
  }
}
