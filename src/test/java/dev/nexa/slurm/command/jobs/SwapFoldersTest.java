package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code offload: nvme} in two tasks at once, with a stand-in for the runner that makes DeepSpeed's
 * calls: each swaps in what it has swapped out itself, and nothing stays on scratch.
 */
@Execution(ExecutionMode.CONCURRENT)
class SwapFoldersTest {
  /**
   * The calls of AsyncPartitionedParameterSwapper: rmtree, makedirs, write; then it waits until the
   * other task has written, and reads.
   */
  private static final String RUNNER =
      """
      set -e
      file=
      for word; do [[ $word != *.yaml ]] || [[ -n $file ]] || file=$word; done
      swap=$(grep -oE '(offload_param_)?nvme_path: .*' "$file" | head -n 1)
      swap=${swap#*: } swap=${swap//[\\"\\']/}/zero_stage_3/bfloat16params/rank0
      rm -rf -- "$swap"
      mkdir -p -- "$swap"
      echo "weights of task $NEXA_TASK" >"$swap/0_param.tensor.swp"
      : >"$NEXA_RUN_DIR/wrote.$NEXA_TASK"
      for ((i = 0; i < 3000; i++)); do
        [[ ! -e $NEXA_RUN_DIR/wrote.0 || ! -e $NEXA_RUN_DIR/wrote.1 ]] || break
        sleep 0.1
      done
      [[ -e $NEXA_RUN_DIR/wrote.0 && -e $NEXA_RUN_DIR/wrote.1 ]] || exit 9
      echo "task $NEXA_TASK swapped in: $(cat -- "$swap/0_param.tensor.swp")"
      [[ $(cat -- "$swap/0_param.tensor.swp") == "weights of task $NEXA_TASK" ]] || exit 3
      """;

  @TempDir Path workspace;

  @ParameterizedTest
  @ValueSource(strings = {"accelerate", "axolotl"})
  void twoTasksOfThisMachineSwapInTheirOwnWeights(String backend) throws IOException {
    // Each task has a CPU and waits for the other.
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1);
    assertOwnWeights(backend, "scheduler: local\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"accelerate", "axolotl"})
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  void twoTasksOnOneNodeSwapInTheirOwnWeights(String backend) throws IOException {
    assertOwnWeights(backend, "");
  }

  private void assertOwnWeights(String backend, String scheduler) throws IOException {
    Person person = new Person(workspace);
    person.slurmProfile(scheduler + "accelerator: cpu\nhealth_check: false\n");
    StandIn.bash(workspace.resolve("bin").resolve(backend), RUNNER);
    Files.writeString(
        workspace.resolve("run.yaml"),
        "stage: train\nbackend: "
            + backend
            + "\nmodel_name: m-7b\ndataset_path: /data\nstrategy: zero3\noffload: nvme\n"
            + "sweep: {lr: [1e-5, 2e-5]}\nmonitor: \"off\"\nsetup: export PATH="
            + workspace
            + "/bin:$PATH\n"
            + "resources: {gpus_per_node: 2, cpus_per_task: 1, memory: 100M, time: 10m"
            + (scheduler.isEmpty() ? ", nodelist: n1" : "")
            + "}\n");

    JsonObject run = person.submitAndWait("run.yaml");

    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.logs(run))
        .contains("task 0 swapped in: weights of task 0", "task 1 swapped in: weights of task 1");
    try (Stream<Path> left = Files.walk(workspace.resolve("scratch"))) {
      assertThat(left.filter(path -> path.toString().contains("zero_stage"))).isEmpty();
    }
  }
}
