package dev.nexa.slurm.command.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Data from the run that makes it to the run that trains on it, on the real Slurm. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class DatasetsOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void promotedDataTrainsUntilAByteChanges() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
    write(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\npromoted_datasets: true\ndataset_checksums: true\n");
    write(
        "make.yaml",
        "stage: data\nbackend: shell\nrun: mkdir -p $NEXA_OUTPUT/a\\ b &&"
            + " echo '{\"text\":1}' >\"$NEXA_OUTPUT/a b/part.jsonl\"\n"
            + "resources: {time: 2m, memory: 100M}\n");
    JsonObject made = person.submitAndWait(workspace + "/make.yaml");
    Path output = workspace.resolve("durable/datasets/" + made.text("run_id"));
    JsonObject version =
        person.json(
            "datasets",
            "register",
            output.toString(),
            "--name",
            "science",
            "--cluster",
            "test",
            "--json");
    assertThat(version.text("run")).isEqualTo(made.text("run_id"));
    person.says(
        "datasets",
        "promote",
        "science",
        "--source",
        "a test",
        "--licence",
        "MIT",
        "--cluster",
        "test");
    write(
        "train.yaml",
        "stage: train\nbackend: shell\nrun: cat \"$NEXA_DURABLE\"/datasets/*/a\\ b/part.jsonl\n"
            + "dataset_path: ${durable}/datasets/"
            + made.text("run_id")
            + "\nresources: {time: 2m, memory: 100M}\n");

    JsonObject trained = person.submitAndWait(workspace + "/train.yaml");
    Files.writeString(output.resolve("a b/part.jsonl"), "{\"text\":2}\n");
    JsonObject refused = person.submitAndWait(workspace + "/train.yaml");

    assertThat(person.logs(trained)).contains("{\"text\":1}");
    assertThat(person.manifest(trained).text("status")).isEqualTo("completed");
    assertThat(person.logs(refused))
        .contains("are not science@v1", "a b/part.jsonl: FAILED")
        .doesNotContain("{\"text\":2}");
    assertThat(person.says("lineage", trained.text("run_id"), "--up", "--cluster", "test"))
        .contains("└─ dataset science@v1", "   └─ run " + made.text("run_id"));
  }

  private void write(String name, String text) throws Exception {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.resolveSibling(""));
    Files.writeString(file, text);
  }
}
