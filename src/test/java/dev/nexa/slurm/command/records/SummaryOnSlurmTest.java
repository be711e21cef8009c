package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Snapshots of jobs on the real Slurm that map a stand-in for NCCL. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class SummaryOnSlurmTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("accelerator: cpu\nhealth_check: false\n");
    Files.writeString(workspace.resolve("libnccl.so.2"), "NCCL version 2.21.5+cuda12.4\n");
    Files.writeString(
        workspace.resolve("map.py"),
        """
        import mmap, os, time
        file = open('%s', 'rb')
        kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        snapshot = os.environ['NEXA_ATTEMPT'] + '.snapshot.tsv'
        for second in range(200):
            time.sleep(1)
            if os.environ['NEXA_TASK'] != '0':
                break
            if os.path.exists(snapshot) and 'libnccl' in open(snapshot).read():
                break
        """
            .formatted(workspace.resolve("libnccl.so.2")));
  }

  private JsonObject submit(String name, String more) throws Exception {
    Path file =
        Files.writeString(
            workspace.resolve(name),
            "stage: train\n" + more.formatted(workspace.resolve("map.py")));
    return person.submit(file.toString());
  }

  private List<String> files(String ending) throws IOException {
    try (var files = Files.walk(workspace.resolve("runs"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(ending))
          .toList();
    }
  }

  /** A run of two nodes, an array, and one that ends at once. */
  @Test
  void equalRunsShareOneFileAndOfAnArrayOnlyTheFirstTaskHasOne() throws Exception {
    String one = "resources: {cpus_per_task: 1, memory: 100M, time: 5m}\n";
    String tasks =
        "backend: shell\nrun: NCCL_DEBUG=WARN exec python3 %s\narray: {shards: 2}\n" + one;
    JsonObject array = submit("a.yaml", tasks);
    JsonObject again = submit("a.yaml", tasks);
    JsonObject wide =
        submit(
            "b.yaml",
            "backend: python\nentrypoint: {script: map.py}\nenv: {NCCL_DEBUG: WARN}\n"
                + "resources: {nodes: 2, gpus_per_node: 0, cpus_per_task: 1, memory: 100M, time: 5m}\n");
    JsonObject brief = submit("c.yaml", "backend: shell\nrun: 'sleep 2 #%s'\n" + one);
    for (JsonObject run : List.of(array, again, wide, brief)) {
      assertThat(person.finish(run).text("status")).isEqualTo("completed");
    }

    assertThat(person.says("summary", array.text("run_id")))
        .contains("mapped.libnccl.version  2.21.5", "env.NCCL_DEBUG  WARN", "slurm.version  ");
    assertThat(person.says("summary", wide.text("run_id")))
        .contains("mapped.libnccl.version  2.21.5", "env.NCCL_DEBUG  WARN", "run.nodes  n");
    assertThat(person.says("summary", brief.text("run_id")))
        .contains("kernel  ", "slurm.config  ")
        .doesNotContain("nccl");
    assertThat(files(".snapshot.tsv")).hasSize(4);
    try (var shared = Files.list(workspace.resolve("runs/snapshots"))) {
      assertThat(shared).hasSize(3);
    }
    assertThat(files(".tmp")).isEmpty();
  }
}
