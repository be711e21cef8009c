package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.SlurmDatabase;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Jobs that shrink while they run, against SQL over slurmdbd's own table. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class ResizedOnSlurmTest {
  @TempDir Path workspace;

  @Test
  void aRunThatShrinksCostsWhatTheDatabaseSays() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("gpu_type: h100\n");
    Path config = workspace.resolve("run.yaml");
    Files.writeString(
        config,
        "stage: train\nbackend: shell\nrun: 'touch "
            + workspace.resolve("began")
            + "; until [ -e "
            + workspace.resolve("changed")
            + " ]; do sleep 0.2; done'\n"
            + "resources: {nodes: 2, gpus_per_node: 1, cpus_per_task: 2, memory: 200M, time: 2m}\n");
    JsonObject run = person.submit(config.toString());
    String job = run.objects("jobs").get(0).number("job_id") + "";
    // A step that starts after the job has shrunk asks for more than the job has left.
    Person.await(workspace.resolve("began"));
    // slurmdbd has one row for a job and a second: a change in the second of the submit replaces
    // it.
    Thread.sleep(1100);
    String refusal = update(job, "NumNodes=1");
    Assumptions.assumeFalse(
        refusal.contains("no longer pending"), "24.11 shrinks no job with --ntasks-per-node");
    assertThat(refusal).isEmpty();
    change(job, "TimeLimit=60");
    Files.createFile(workspace.resolve("changed"));

    JsonObject manifest = person.finish(run);

    assertThat(manifest.text("state")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.logs(run)).doesNotContain("srun: error");
    assertThat(manifest.members()).doesNotContainKey("disagreements");
    JsonObject cost = person.cost(run);
    JsonObject actual = cost.object("actual");
    assertThat(actual.objects("attempts")).hasSize(2);
    assertThat(new BigDecimal(cost.text("wasted"))).isZero();
    long[] held = held("id_job=" + job, 2);
    assertThat(actual.text("cpu_hours")).isEqualTo(SlurmDatabase.hours(held[0]));
    assertThat(actual.text("gpu_hours")).isEqualTo(SlurmDatabase.hours(held[1]));
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
  }

  @Test
  void aJobThatShrinksTwiceAndIsSuspendedUsedWhatTheDatabaseSays() throws Exception {
    String job =
        Person.command(
                "sbatch",
                "--parsable",
                "--nodes=3",
                "--gres=gpu:h100:1",
                "--mem=50M",
                "--time=2",
                "--output=/dev/null",
                "--wrap=until [ -e " + workspace.resolve("changed") + " ]; do sleep 0.2; done")
            .strip();
    await(job);
    Thread.sleep(2000);
    change(job, "NumNodes=2");
    Thread.sleep(2000);
    change(job, "NumNodes=1");
    Person.command("scontrol", "suspend", job);
    Thread.sleep(2000);
    Person.command("scontrol", "resume", job);
    Files.createFile(workspace.resolve("changed"));
    for (int i = 0; i < 240 && !Person.state(job).isEmpty(); i++) {
      Thread.sleep(500);
      if (Person.state(job).equals("COMPLETED")) {
        break;
      }
    }

    JsonObject usage = new Person(workspace).json("usage", job, "--json").objects("jobs").get(0);

    long[] held = held("id_job=" + job, 3);
    assertThat(usage.number("cpu_seconds")).isEqualTo(held[0]);
    assertThat(usage.number("gpu_seconds")).isEqualTo(held[1]);
  }

  /** CPU-seconds and GPU-seconds of a job's rows; a row after a resize begins at its submit. */
  private static long[] held(String job, int parts) throws IOException {
    String gpu = SlurmDatabase.gpu();
    List<String> rows =
        SlurmDatabase.sql(
                "select time_submit, time_start, time_end, time_suspended, tres_alloc"
                    + " from nexa_job_table where "
                    + job
                    + " order by time_submit")
            .lines()
            .toList();
    assertThat(rows).hasSize(parts);
    long[] held = {0, 0};
    for (int i = 0; i < rows.size(); i++) {
      String[] cell = rows.get(i).split("\t", -1);
      long begin = Long.parseLong(cell[i == 0 ? 1 : 0]);
      long seconds = Long.parseLong(cell[2]) - begin - Long.parseLong(cell[3]);
      held[0] += seconds * SlurmDatabase.count(cell[4], SlurmDatabase.CPU);
      held[1] += seconds * SlurmDatabase.count(cell[4], gpu);
    }
    return held;
  }

  private static void change(String job, String to) throws IOException {
    assertThat(update(job, to)).isEmpty();
  }

  private static String update(String job, String to) throws IOException {
    return Person.command("sh", "-c", "scontrol update JobId=" + job + " " + to + " 2>&1");
  }

  private static void await(String job) throws IOException, InterruptedException {
    for (int i = 0; i < 240 && !Person.state(job).equals("RUNNING"); i++) {
      Thread.sleep(250);
    }
    assertThat(Person.state(job)).isEqualTo("RUNNING");
  }
}
