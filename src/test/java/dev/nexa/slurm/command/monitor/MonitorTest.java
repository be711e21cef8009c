package dev.nexa.slurm.command.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Runs that are sampled, with a stand-in for nvidia-smi: what is kept, said and drawn of them. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class MonitorTest {
  /**
   * Waits for two samples of the node on which it runs, by lines that begin so, a minute at most;
   * the pipe beside them is not a file.
   */
  private static String twoSamples(String line) {
    return "until [ $(cat $(find $NEXA_TASK_SCRATCH -name \"telemetry.*.${SLURMD_NODENAME:-*}\" -type f)"
        + " /dev/null | grep -c '^"
        + line
        + "') -ge "
        + (line.startsWith("g") ? 4 : 2)
        + " ] || ((++tries > 300)); do sleep 0.2; done";
  }

  private static final String OF_THE_NODE = twoSamples("n,");
  private static final String OF_BOTH_GPUS = twoSamples("g,");

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    Path file = bin.resolve("nvidia-smi");
    Files.copy(Path.of("src/test/resources/fake-gpu/nvidia-smi"), file);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  @Test
  void ofARunOnThisMachineNodeAndMemoryAreSampledAlsoIfItFails() throws IOException {
    JsonObject run =
        person.submitAndWait(
            write(
                "stage: train\nbackend: shell\nmonitor: 1s\nresources: {time: 2m}\n"
                    + "run: |\n  "
                    + OF_THE_NODE
                    + "\n  exit 3\n"),
            "--local");

    JsonObject telemetry = person.manifest(run).object("telemetry");
    assertThat(telemetry.text("source")).isEqualTo("none");
    assertThat(telemetry.number("samples")).isGreaterThanOrEqualTo(2);
    assertThat(telemetry.object("memory").decimal("peak")).isPositive();
    assertThat(person.says("monitor", "show")).contains("cpu utilization");
  }

  @Test
  @Tag("slurm")
  void ofTwoNodesOnSlurmEachGpuIsDrawnAndIdleOnesAreSaid() throws Exception {
    person.slurmProfile("");
    String config =
        write(
            "stage: train\nbackend: python\nentrypoint: {script: configs/two.py, launcher:"
                + " torchrun}\nsetup: export PATH="
                + workspace.resolve("bin")
                + ":$PATH\nmonitor: 1s\nenv: {FAKE_GPU: visible}\n"
                + "resources: {nodes: 2, gpus_per_node: 2, gpu_type: h100, time: 5m, memory: 1G}\n");
    Files.writeString(workspace.resolve("configs/two.py"), "");
    Path torchrun = workspace.resolve("bin/torchrun");
    Files.writeString(torchrun, "#!/bin/bash\n" + OF_BOTH_GPUS + "\n");
    assertThat(torchrun.toFile().setExecutable(true)).isTrue();

    JsonObject run = person.submitAndWait(config);

    JsonObject manifest = person.manifest(run);
    JsonObject telemetry = manifest.object("telemetry");
    assertThat(telemetry.number("files")).isEqualTo(2);
    assertThat(telemetry.decimal("gpu_idle_share")).isEqualByComparingTo("0.5");
    assertThat(manifest.object("metrics").decimal("gpu_utilization")).isEqualByComparingTo("0.5");
    assertThat(person.cost(run).object("waste").optionalText("idle_gpus")).isPresent();
    // A run of seconds mostly starts and ends: that says nothing about idle GPUs.
    assertThat(person.says("why")).doesNotContain("idle");
    assertThat(person.says("estimate", config, "--cluster", "test")).doesNotContain("idle 50 %");
    assertThat(person.says("monitor", "show"))
        .containsPattern("gpu \\d utilization")
        .containsPattern("gpu \\d memory")
        .contains("P95")
        .doesNotContain("use: the GPUs");
    // Slurm chooses which of a node's GPUs the job gets.
    String gpu = person.says("monitor", "show", "--csv").replaceAll("(?s).*?,(\\d),gpu_.*", "$1");
    assertThat(person.says("monitor", "show", "--csv", "--gpu", gpu))
        .startsWith("attempt,node,gpu,measure,unit,time,value\n")
        .contains("," + gpu + ",gpu_utilization,%,")
        .doesNotContainPattern(",[^" + gpu + "],gpu_utilization");
    assertThat(person.json("monitor", "show", "--json").objects("nodes")).hasSize(2);
    assertThat(person.fails("monitor", "show", "--gpu", "8")).contains("no samples of GPU 8");
  }

  /** Its own srun starts what works on the nodes, so the samplers are steps beside that. */
  @Test
  @Tag("slurm")
  void aScriptOnTwoNodesIsSampledOnBoth() throws Exception {
    person.slurmProfile("");
    Files.writeString(
        workspace.resolve("wait.sh"),
        OF_BOTH_GPUS + "\nfor ((i = 0; i < 300000; i++)); do :; done\nsleep 1.5\n");
    String config =
        write(
            "stage: train\nbackend: shell\nmonitor: 1s\nrun: srun bash "
                + workspace.resolve("wait.sh")
                + "\nsetup: export PATH="
                + workspace.resolve("bin")
                + ":$PATH\nenv: {FAKE_GPU: visible}\n"
                + "resources: {nodes: 2, gpus_per_node: 2, gpu_type: h100, time: 5m, memory: 1G}\n");

    JsonObject run = person.submitAndWait(config);

    JsonObject telemetry = person.manifest(run).object("telemetry");
    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(telemetry.number("files")).isEqualTo(2);
    assertThat(telemetry.decimal("gpu_idle_share")).isEqualByComparingTo("0.5");
    assertThat(person.json("monitor", "show", "--json").objects("nodes")).hasSize(2);
    assertThat(telemetry.object("cpu_utilization").decimal("peak")).isPositive();
  }

  private String write(String text) throws IOException {
    Files.createDirectories(workspace.resolve("configs"));
    Path file = workspace.resolve("configs/sampled.yaml");
    Files.writeString(file, text);
    return file.toString();
  }
}
