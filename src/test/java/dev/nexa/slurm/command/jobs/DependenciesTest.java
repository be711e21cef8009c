package dev.nexa.slurm.command.jobs;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that wait for runs and for jobs of others. On the real Slurm and on this machine. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class DependenciesTest {
  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
  }

  @ParameterizedTest
  @ValueSource(strings = {"slurm", "local"})
  void aRunWaitsForAnotherAndStatusNamesARunThatNeverStarts(String scheduler) throws Exception {
    person.slurmProfile("scheduler: " + scheduler + "\nhealth_check: false\n");
    Path good = config("train", "until [[ -e %s/go ]]; do sleep 0.2; done", "");
    Path bad = config("eval", "until [[ -e %s/go ]]; do sleep 0.2; done; exit 1", "");
    Path next = config("report", "date +%%s%%N >%s/next", "");
    JsonObject first = person.submit(good.toString());
    JsonObject second =
        person.submit(next.toString(), "--dependency", "afterok:" + first.text("run_id"));
    JsonObject failing = person.submit(bad.toString());
    JsonObject never =
        person.submit(next.toString(), "--dependency", "afterok:" + failing.text("run_id"));

    assertThat(person.until("waits for another job", "status", second.text("run_id"))).isNotEmpty();
    Files.createFile(workspace.resolve("go"));
    assertThat(person.finish(second).text("status")).isEqualTo("completed");
    assertThat(person.finish(first).text("status")).isEqualTo("completed");
    assertThat(workspace.resolve("next")).exists();
    assertThat(person.finish(failing).text("status")).isEqualTo("failed");
    assertThat(person.until("will never start", "reconcile"))
        .contains(never.text("run_id") + " will never start");
    assertThat(person.says("status", never.text("run_id"))).contains("did not end as needed");
    person.says("cancel", never.text("run_id"));
    assertThat(person.finish(never).text("state")).isEqualTo("cancelled");
    assertThat(
            person.fails(
                "submit",
                next.toString(),
                "--cluster",
                "test",
                "--dependency",
                "afterok:" + failing.text("run_id")))
        .contains("can never be met: it has failed");
    JsonObject met =
        person.submitAndWait(next.toString(), "--dependency", "afterany:" + failing.text("run_id"));
    assertThat(person.manifest(met).text("status")).isEqualTo("completed");
  }

  @Test
  void aJobThatNoRunHasIsJudgedBeforeSlurmForgetsIt() throws Exception {
    person.slurmProfile("health_check: false\n");
    String next = config("report", "date +%%s%%N >%s/next", "").toString();
    String failed = foreign("exit 1");
    String done = foreign("exit 0");
    String running = foreign("until [ -e " + workspace + "/go ]; do sleep 0.2; done");
    ended(failed);
    ended(done);

    assertThat(refused(next, "afterok:" + failed))
        .contains("afterok:" + failed + " can never be met: a task of it has not completed");
    assertThat(refused(next, "afternotok:" + done)).contains("it has completed");
    assertThat(refused(next, "afterok:99999999")).contains("slurm knows no job 99999999");
    JsonObject met = person.submit(next, "--dependency", "afterany:" + failed + ":" + done);
    assertThat(person.manifest(met).objects("submissions").get(0).optionalText("dependency"))
        .isEmpty();
    JsonObject waits = person.submit(next, "--dependency", "afterok:" + running);
    assertThat(person.until("waits for another job", "status", waits.text("run_id"))).isNotEmpty();
    Files.createFile(workspace.resolve("go"));
    assertThat(person.finish(waits).text("status")).isEqualTo("completed");
  }

  private String refused(String config, String dependency) {
    return person.fails("submit", config, "--cluster", "test", "--dependency", dependency);
  }

  /** A job that nexa-slurm knows nothing of. */
  private static String foreign(String shell) throws IOException {
    return Person.command(
            "sbatch", "--parsable", "--mem=50M", "--output=/dev/null", "--wrap=" + shell)
        .strip();
  }

  private static void ended(String job) throws Exception {
    for (int i = 0; i < 240; i++) {
      String rows = Person.command("sacct", "-n", "-X", "-P", "-j", job, "--format=State");
      if (rows.contains("COMPLETED") || rows.contains("FAILED")) {
        return;
      }
      Thread.sleep(500);
    }
    throw new AssertionError(job + " did not end");
  }

  private Path config(String stage, String command, String more) throws IOException {
    return Files.writeString(
        workspace.resolve(stage + ".yaml"),
        """
        stage: %s
        backend: shell
        run: |
          %s
        resources: {cpus_per_task: 1, memory: 100M, time: 5m}
        %s
        """
            .formatted(stage, command.formatted(workspace), more));
  }
}
