package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A script's own {@code srun} takes from the variables of its job what it isn't told: the number of
 * tasks, and the GPUs. A variable more makes another step, or none: with {@code SLURM_NTASKS=2},
 * {@code srun --ntasks-per-node=4} starts two tasks on two nodes; with {@code
 * SLURM_GPUS_PER_NODE=h100:4}, {@code srun --gres=gpu:1} ends with "Invalid GRES specification".
 */
@Tag("long")
@Tag("slurm")
class ScriptVariablesOnSlurmTest {
  private static final List<String> HEADERS =
      List.of(
          "-N 2 -c 2",
          "-N 2 --gres=gpu:2",
          "--gpus-per-node=1",
          "-N 2 --gpus-per-node=h100:1",
          "-n 4",
          "-n 2 -c 2 --mem-per-cpu=100",
          "-N 2 --ntasks-per-node=2",
          "-N 1 -n 2 --gpus-per-task=1",
          "-N 1 -G 2",
          "-N 1-2 -n 3",
          "-N 1 --gpus=1 --cpus-per-gpu=2",
          "-N 1 --gpus=2 --mem-per-gpu=100",
          "-N 1 -n 1 --hint=nomultithread",
          "-N 1 -n 2 --threads-per-core=1",
          "-n 4 -N 2 --distribution=cyclic",
          "-n 2 --overcommit",
          "-N 1 --exclusive");

  /** Of these each job has its own. */
  private static final String OWN =
      "SLURM_(JOB_?ID|JOB_NAME|TASK_PID|SUBMIT_DIR|JOB_NODELIST|NODELIST|TOPOLOGY_ADDR|JOB_GPUS|JOB"
          + "_START_TIME|JOB_END_TIME|OPEN_MODE|PRIO_PROCESS|SCRIPT_CONTEXT|EXPORT_ENV)|SLURMD_NODENAME";

  @Test
  void areThoseOfSbatch() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    List<String> differences = new ArrayList<>();
    try (PrivateSlurm slurm = PrivateSlurm.prepare()) {
      slurm.letAllThrough();
      slurm.start();
      Person person = slurm.person();
      Path profile = slurm.workspace().resolve("configs/clusters/default.yaml");
      Files.writeString(
          profile,
          Files.readString(profile)
              + """
              gpu_type: h100
              partitions:
                gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 16, memory_per_node: 64000M}
              """);
      Map<String, Path> theirs = new LinkedHashMap<>();
      for (String header : HEADERS) {
        String name = "job" + theirs.size();
        Path script = slurm.workspace().resolve(name + ".sh");
        Path file = slurm.folder.resolve(name + ".theirs");
        Files.writeString(script, text(header, file));
        awaitEmpty(slurm); // Which nodes a job gets depends on what runs.
        CommandResult answer = slurm.root("sbatch", "--output=/dev/null", script.toString());
        assertThat(answer.exit()).as(header + answer.err()).isZero();
        theirs.put(header, file);
        Files.writeString(script, text(header, slurm.folder.resolve(name + ".ours")));
        awaitEmpty(slurm);
        try {
          person.says("submit", name + ".sh");
        } catch (AssertionError refused) {
          differences.add(header + ": refused: " + refused.getMessage());
          Files.writeString(slurm.folder.resolve(name + ".ours"), "");
        }
      }
      for (Map.Entry<String, Path> job : theirs.entrySet()) {
        Path ours = Path.of(job.getValue().toString().replace(".theirs", ".ours"));
        differences.addAll(differences(job.getKey(), variables(job.getValue()), variables(ours)));
      }
    }
    assertThat(differences).as(String.join("\n", differences)).isEmpty();
  }

  private static void awaitEmpty(PrivateSlurm slurm) throws Exception {
    for (int i = 0; !slurm.root("squeue", "-h").out().isEmpty(); i++) {
      assertThat(i).as("the queue does not become empty").isLessThan(300);
      Thread.sleep(100);
    }
  }

  private static String text(String header, Path file) {
    String memory = header.contains("--mem") ? "" : " --mem=500"; // else it is a default of ours
    String lines = "#!/bin/bash\n#SBATCH -t 5\n#SBATCH " + header + memory + "\n";
    return lines + "env >%1$s.tmp; mv %1$s.tmp %1$s\n".formatted(file);
  }

  /** Waits until the job has written its variables. */
  private static Map<String, String> variables(Path file) throws Exception {
    for (int i = 0; !Files.exists(file) && i < 300; i++) {
      Thread.sleep(200);
    }
    return read(file);
  }

  private static Map<String, String> read(Path file) throws IOException {
    Map<String, String> variables = new TreeMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] parts = line.split("=", 2);
      if (parts[0].matches("(SLURM|CUDA_VISIBLE|SRUN_)\\w*") && !parts[0].matches(OWN)) {
        variables.put(parts[0], parts.length == 2 ? parts[1] : "");
      }
    }
    // Which GPUs of a node are free is chance.
    variables.computeIfPresent("CUDA_VISIBLE_DEVICES", (name, gpus) -> "" + gpus.split(",").length);
    return variables;
  }

  private static List<String> differences(
      String header, Map<String, String> theirs, Map<String, String> ours) {
    List<String> differences = new ArrayList<>();
    TreeSet<String> names = new TreeSet<>(ours.isEmpty() ? List.of() : theirs.keySet());
    names.addAll(ours.keySet());
    for (String name : names) {
      String here = ours.getOrDefault(name, "(unset)");
      String there = theirs.getOrDefault(name, "(unset)");
      if (!here.equals(there)) {
        differences.add(header + ": " + name + " is " + here + ", with sbatch " + there);
      }
    }
    return differences;
  }
}
