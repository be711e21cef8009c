package dev.nexa.slurm.command.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.command.PrivateSlurm.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** {@code diag} on four nodes of a real Slurm, one of which gets a tenth of a CPU. */
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class DiagOnSlurmTest {
  private static final int ROUNDS = SuiteSize.of("diag.rounds", 1, 20);
  private static final Path QUOTA = Path.of("/sys/fs/cgroup/cpu");

  @Test
  void aSlowNodeIsNamedLeftOutAndForgottenWhenItIsWell() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    assumeTrue(Files.isWritable(QUOTA.resolve("cgroup.procs")), "no cgroup of CPUs");
    try (PrivateSlurm slurm = PrivateSlurm.prepare(cluster())) {
      slurm.letAllThrough();
      slurm.start();
      Person person = slurm.person();
      Files.writeString(
          slurm.workspace().resolve("configs/clusters/default.yaml"),
          "partitions: {cpu: {cpus_per_node: 4, memory_per_node: 4000M, gpus_per_node: 0}}\n",
          StandardOpenOption.APPEND);
      Path group = QUOTA.resolve(slurm.folder.getFileName());
      try {
        slow(slurm, group, "d3");

        JsonObject slow = found(person);
        assertThat(results(slow, "pair"))
            .containsExactlyInAnyOrderEntriesOf(
                Map.of("d1", "ok", "d2", "ok", "d3", "critical", "d4", "ok"));
        assertThat(slow.object("nodes").text("d3")).isEqualTo("critical");
        for (int more = 1; more < ROUNDS; more++) {
          // On a busy machine another node may be below its own past.
          Map<String, String> again = results(found(person), "pair");
          assertThat(again.entrySet())
              .filteredOn(node -> node.getValue().equals("critical"))
              .extracting(Map.Entry::getKey)
              .as("round %s: %s", more, again)
              .containsExactly("d3");
        }
        assertThat(person.says("why", "latest"))
            .contains("A check of the nodes found a broken one");
        assertThat(person.says("diag", "--exclude-bad")).isEqualTo("--exclude=d3\n");
        Path report = slurm.folder.resolve("report.html");
        person.says("report", "--out", report.toString());
        assertThat(Files.readString(report)).contains("<dt>d3 critical</dt>");
        assertThat(keptOff(person, slurm, "{time: 1m, memory: 100M, exclude: bad}"))
            .isEqualTo("d3");

        // Back to the whole CPU: it is well, and no longer left out.
        Files.writeString(group.resolve("cpu.cfs_quota_us"), "-1");
        JsonObject well = found(person);
        assertThat(results(well, "pair").values()).doesNotContain("critical");
        assertThat(slurm.workspace().resolve(".nexa/bad_nodes/default/d3.ok")).exists();
        assertThat(person.says("diag", "show")).contains("4 nodes: ").doesNotContain("critical");
      } finally {
        slurm.root("scancel", "--state=RUNNING");
        for (String process : Files.readAllLines(group.resolve("cgroup.procs"))) {
          Files.writeString(QUOTA.resolve("cgroup.procs"), process);
        }
      }
      Files.delete(group);
    }
  }

  private static Layout cluster() {
    StringBuilder nodes = new StringBuilder();
    Map<String, String> gpus = new TreeMap<>();
    for (int node = 1; node <= 4; node++) {
      nodes.append("NodeName=d%d AT CPUs=4 RealMemory=4000\n".formatted(node));
      gpus.put("d" + node, "");
    }
    return new Layout(
        gpus,
        nodes + "PartitionName=cpu Default=YES Nodes=d[1-4] MaxTime=1:00:00 DefMemPerCPU=100\n");
  }

  /** Lets a node's slurmd, and the jobs that it starts, use a fifth of a CPU. */
  private static void slow(PrivateSlurm slurm, Path group, String node) throws IOException {
    Files.createDirectory(group);
    Files.writeString(group.resolve("cpu.cfs_quota_us"), "20000");
    String slurmd = slurm.root("pgrep", "-f", "slurmd -D -N " + node + "$").out().strip();
    Files.writeString(group.resolve("cgroup.procs"), slurmd);
  }

  private static JsonObject found(Person person) {
    JsonObject answer = person.json("diag", "--nodes", "d[1-4]", "--level", "full", "--json");
    return answer.objects("runs").get(0);
  }

  private static Map<String, String> results(JsonObject found, String name) {
    Map<String, String> results = new TreeMap<>();
    for (JsonObject check : found.objects("checks")) {
      if (check.text("check").equals(name)) {
        results.put(check.text("node"), check.text("result"));
      }
    }
    return results;
  }

  /** Submits, and returns what Slurm keeps the job off. */
  private static String keptOff(Person person, PrivateSlurm slurm, String resources)
      throws IOException {
    Path config =
        Files.writeString(
            slurm.workspace().resolve("w.yaml"),
            "stage: work\nbackend: shell\nrun: sleep 60\nresources: " + resources + "\n");
    JsonObject run = person.json("submit", "--json", config.toString());
    String job = "" + run.objects("jobs").get(0).number("job_id");
    String shown = slurm.root("scontrol", "show", "job", job).out();
    slurm.root("scancel", job);
    return shown
        .lines()
        .filter(line -> line.contains("ExcNodeList="))
        .findFirst()
        .orElseThrow()
        .replaceAll(".*ExcNodeList=(\\S+).*", "$1");
  }
}
