package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.job.code.GitRepo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A run whose config has {@code code}: the job runs the tree of the submit. On the real Slurm. */
@Tag("long")
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class CodeTest {
  @TempDir Path workspace;
  private Person person;
  private GitRepo repo;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
    repo = GitRepo.make(workspace.resolve("repo"));
  }

  @Test
  void theJobSeesTheTreeOfTheSubmit() throws Exception {
    repo.file("science/rows.py", "VALUE = 'as submitted'\n")
        .file(
            "science/train.py",
            "import os, sys, time\n"
                + "open('"
                + workspace
                + "/began', 'w').close()\n"
                + "while not os.path.exists('"
                + workspace
                + "/go'): time.sleep(0.1)\n"
                + "import rows\n"
                + "print('rows', rows.VALUE, 'in', os.getcwd() == os.environ['NEXA_CODE'])\n"
                + "print('path', os.environ['PYTHONPATH'] == os.environ['NEXA_CODE'] + '/lib')\n")
        .file(
            "configs/run.yaml",
            "stage: train\nbackend: python\nentrypoint: {script: science/train.py}\n"
                + "env: {PYTHONPATH: '${code}/lib'}\n"
                + "resources: {time: 5m, memory: 100M}\ncode: {}\n")
        .commit();
    String config = repo.path().resolve("configs/run.yaml").toString();

    JsonObject run = person.submit(config);
    repo.file("science/rows.py", "VALUE = 'edited later'\n");
    Person.await(workspace.resolve("began"));
    Files.createFile(workspace.resolve("go"));
    JsonObject manifest = person.finish(run);

    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.logs(run)).contains("rows as submitted in True", "path True");
    JsonObject code = manifest.object("code");
    Path archive = workspace.resolve("code/" + code.text("sha256") + ".tar.gz");
    assertThat(Sha256.of(archive)).isEqualTo(code.text("sha256"));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)))
        .isEqualTo("r--------");
    assertThat(code.flag("dirty")).isFalse();
    assertThat(code.text("script")).isEqualTo("science/train.py");
    assertThat(person.says("runs", "show", run.text("run_id")))
        .contains("code        3 files, ", " of main, SHA-256 " + code.text("sha256"));
    assertThat(workspace.resolve("scratch").toFile().list()).doesNotContain(run.text("run_id"));

    JsonObject again = person.json("rerun", run.text("run_id"), "--wait", "--json");

    assertThat(person.logs(again)).contains("rows as submitted in True");
    tamper(archive);
    assertThat(person.fails("rerun", run.text("run_id")))
        .contains("the code of " + run.text("run_id") + ", was changed: its SHA-256 is ");
    assertThat(byHand(run))
        .contains("is not the code of this run: its SHA-256 is ", "the command was not started")
        .doesNotContain("rows");
    Files.delete(archive);
    assertThat(person.fails("rerun", run.text("run_id")))
        .contains(archive + " is missing: it holds the code of " + run.text("run_id"));
    JsonObject plan = Json.parseObject(Files.readString(Person.folder(run).resolve("plan.json")));
    assertThat(plan.object("code")).hasToString(code.toString());
  }

  /** Both nodes of the test's cluster share one scratch: one unpacks, the other waits. */
  @Test
  void eachNodeOfAJobHasTheTree() throws Exception {
    repo.file("part.sh", "echo \"part of $SLURM_NODEID in $PWD\"\n")
        .file("main.py", "import os, subprocess\nsubprocess.check_call(['bash', 'part.sh'])\n")
        .file(
            "run.yaml",
            "stage: train\nbackend: python\n"
                + "entrypoint: {script: main.py, launcher: python, config: false}\n"
                + "array: {shards: 2}\nresources: {nodes: 2, time: 5m, memory: 100M}\ncode: {}\n");

    JsonObject run = person.submitAndWait(repo.path().resolve("run.yaml").toString());

    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    for (int task = 0; task < 2; task++) {
      String folder = workspace + "/scratch/" + run.text("run_id") + "/task_" + task + "/code";
      assertThat(person.logs(run)).contains("part of 0 in " + folder, "part of 1 in " + folder);
    }
    assertThat(workspace.resolve("scratch").toFile().list()).doesNotContain(run.text("run_id"));
  }

  private static void tamper(Path archive) throws IOException {
    byte[] bytes = Files.readAllBytes(archive);
    bytes[bytes.length / 2] ^= 1;
    Files.delete(archive);
    Files.write(archive, bytes);
  }

  /** What the run's script prints if somebody submits it without nexa-slurm. */
  private String byHand(JsonObject run) throws IOException {
    Path log = workspace.resolve("by_hand.out");
    String call =
        "cd " + Person.folder(run) + " && sbatch --wait --array=0 --output=" + log + " job.sbatch";
    Person.command("bash", "-c", call);
    return Files.readString(log);
  }
}
