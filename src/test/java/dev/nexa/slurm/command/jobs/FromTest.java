package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
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

/**
 * {@code --from [NAME=]RUN}: a run reads what an earlier run made, as a stage of a pipeline does.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class FromTest {
  private static final String MAKE =
      """
      stage: data
      backend: shell
      run: |
        for ((i = 0; i < 600; i++)); do [[ ! -e HOLD ]] || sleep 0.1; done
        mkdir -p "$NEXA_OUTPUT" && echo "made by $NEXA_RUN_ID" >"$NEXA_OUTPUT/made"
      resources: {time: 2m, memory: 100M}
      """;
  private static final String USE =
      """
      stage: eval
      backend: shell
      run: |
        cat "${stages.make.output}/made"
      resources: {time: 2m, memory: 100M}
      """;
  private static final String SWEEP =
      """
      stage: train
      backend: shell
      run: |
        printf '{"checkpoint": "%s/best_%s"}' "$NEXA_CHECKPOINTS" "$NEXA_TASK" >"$NEXA_METRICS"
      sweep: {seed: [1, 2, 3]}
      resources: {time: 2m, memory: 100M}
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void workspace() throws Exception {
    Files.createDirectories(workspace.resolve(".nexa"));
    person = new Person(workspace);
    write("make.yaml", make());
    write("use.yaml", USE);
    write("sweep.yaml", SWEEP);
  }

  private String make() {
    return MAKE.replace("HOLD", workspace.resolve("hold").toString());
  }

  private String write(String name, String text) throws Exception {
    return Files.writeString(workspace.resolve(name), text).toString();
  }

  private String file(String name) {
    return workspace.resolve(name).toString();
  }

  @Test
  void aRunWaitsForTheRunWhoseFilesItReads() throws Exception {
    Path hold = Files.createFile(workspace.resolve("hold"));
    String made = person.submit(file("make.yaml"), "--local").text("run_id");

    JsonObject used = person.submit(file("use.yaml"), "--local", "--from", "make=" + made);
    assertThat(person.says("status", used.text("run_id"))).contains("waits for another job to end");
    Files.delete(hold);

    assertThat(person.finish(used).text("status")).isEqualTo("completed");
    assertThat(person.says("logs", used.text("run_id"))).contains("made by " + made);
    assertThat(person.says("runs", "show", used.text("run_id"))).contains("from:" + made);
  }

  @Test
  void aRerunReadsTheSameFiles() throws Exception {
    String made = person.submitAndWait(file("make.yaml"), "--local").text("run_id");
    String used =
        person.submitAndWait(file("use.yaml"), "--local", "--from", "make=" + made).text("run_id");

    String again = person.json("rerun", used, "--wait", "--json").text("run_id");

    assertThat(again).isNotEqualTo(used);
    assertThat(person.says("logs", again)).contains("made by " + made);
  }

  @Test
  void oneTaskOfASweepHasTheCheckpoint() throws Exception {
    String config =
        write(
            "eval.yaml",
            """
            stage: eval
            backend: shell
            run: |
              echo "model $NEXA_STAGE_from_checkpoint"
            options: {model: "${checkpoint}"}
            resources: {time: 2m, memory: 100M}
            """);
    JsonObject sweep = person.submit(file("sweep.yaml"), "--local");
    assertThat(person.finish(sweep).text("status")).isEqualTo("completed");
    String job = String.valueOf(sweep.objects("jobs").get(0).number("job_id"));

    assertThat(person.fails("submit", config, "--local", "--from", sweep.text("run_id")))
        .contains("it is a sweep of 3 points", "name one point as JOB_TASK");
    JsonObject used = person.submitAndWait(config, "--local", "--from", job + "_1");
    assertThat(person.says("logs", used.text("run_id")))
        .contains("/checkpoints/" + sweep.text("run_id") + "/task_1/best_1");
  }

  @Test
  void whatCannotBeReadIsRefused() throws Exception {
    String failing = write("fail.yaml", make().replace("run: |", "run: |\n  exit 3"));
    String failed = person.submitAndWait(failing, "--local").text("run_id");
    String made = person.submitAndWait(file("make.yaml"), "--local").text("run_id");
    String use = file("use.yaml");

    assertThat(person.fails("submit", use, "--local", "--from", "make=" + failed))
        .contains("--from " + failed + ": it has failed", "nexa-slurm rerun --failed " + failed);
    assertThat(person.fails("submit", use, "--local", "--from", "Make=" + made))
        .contains("--from Make=" + made + ": expected RUN or NAME=RUN");
    assertThat(
            person.fails(
                "submit", use, "--local", "--from", "make=" + made, "--from", "make=latest"))
        .contains("--from names two runs 'make'");
    assertThat(person.fails("submit", use, "--local", "--from", "make=data_20200101_000000"))
        .contains("there is no run data_20200101_000000");
    assertThat(person.fails("submit", use, "--local", "--from", made))
        .contains("but ${checkpoint} stands nowhere", "add --from make=RUN");
    Files.delete(workspace.resolve("runs/" + made + "/done/0"));
    assertThat(person.fails("submit", use, "--local", "--from", "make=" + made))
        .contains("its folder done/ does not name all tasks");
    assertThat(person.fails("submit", use, "--local"))
        .contains("name the run that made it: --from make=RUN");
  }

  @Test
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  void slurmHoldsTheRunUntilTheEarlierRunHasCompleted() throws Exception {
    person.slurmProfile("");
    Path hold = Files.createFile(workspace.resolve("hold"));
    String made = person.submit(file("make.yaml")).text("run_id");

    JsonObject used = person.submit(file("use.yaml"), "--from", "make=" + made);
    long job = used.objects("jobs").get(0).number("job_id");
    assertThat(Person.state(String.valueOf(job))).isEqualTo("PENDING");
    Files.delete(hold);

    assertThat(person.finish(used).text("status")).isEqualTo("completed");
    assertThat(person.says("logs", used.text("run_id"))).contains("made by " + made);
  }
}
