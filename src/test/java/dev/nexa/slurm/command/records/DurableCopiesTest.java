package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The copies of a finished run's records on the durable tier, and what audit says about them. */
class DurableCopiesTest {
  @TempDir private Path folder;
  private Terminal ada;
  private Path durable;
  private RunFolder run;

  @BeforeEach
  void aSubmittedRun() throws IOException {
    ada = new Terminal(folder).withSlurm();
    durable = folder.resolve("durable");
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\nstorage: {scratch: /scratch, durable: "
            + durable
            + ", shared: /shared}\n");
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 1, memory: 1G, time: 2h}\n");
    ada.program("sbatch", "echo 100");
    ada.program("sacct", ":");
    assertThat(ada.type("submit", "run.yaml").exit()).isZero();
    Workspace workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    run = workspace.run(workspace.latest());
    Files.createDirectories(run.logs());
    Files.writeString(run.logs().resolve("100_0.out"), "hello\n");
  }

  /** The run's only job ends, and a pass settles it. */
  private void ends() {
    Submission submission = RunState.of(run.journal().read()).submissions().get(0);
    ada.program("sacct", ":\n" + Terminal.accountingRow(100, 0, "COMPLETED", submission.key()));
    Screen pass = ada.type("reconcile");
    assertThat(pass.exit()).as(pass.err()).isZero();
  }

  private Path checkpoints() throws IOException {
    return Files.createDirectories(durable.resolve("checkpoints").resolve(run.id().value()));
  }

  @Test
  void manifestCostAndLogAreWhereTheSeedsPutThem() throws IOException {
    Files.createDirectories(durable);
    ends();

    assertThat(durable.resolve("manifests/" + run.id() + ".json"))
        .hasSameTextualContentAs(run.manifest());
    assertThat(durable.resolve("manifests/cost_" + run.id() + ".json"))
        .hasSameTextualContentAs(run.cost());
    assertThat(durable.resolve("logs/" + run.id() + ".log")).hasContent("hello");
    assertThat(durable.resolve("checkpoints")).doesNotExist();
    assertThat(ada.type("audit").err()).doesNotContain("copies");
  }

  /** Also those of ranks, and of several tasks; no link, which leads nowhere on another machine. */
  @ParameterizedTest
  @CsvSource({
    "'', ID.log",
    "'100_0.ranks/rank_0.log', ID.log ID/100_0.ranks/rank_0.log",
    "'101_0.out 101_0.ranks/rank_1.log', ID/100_0.out ID/101_0.out ID/101_0.ranks/rank_1.log"
  })
  void allLogsAreCopiesOnTheTier(String more, String expected) throws IOException {
    Files.createDirectories(durable);
    String id = run.id().value();
    for (String log : more.isEmpty() ? new String[0] : more.split(" ", -1)) {
      Path file = run.logs().resolve(log);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "log " + log);
    }
    Files.setPosixFilePermissions(
        run.logs().resolve("100_0.out"), PosixFilePermissions.fromString("rw-r-----"));
    ends();

    Map<String, String> copies = new TreeMap<>();
    try (Stream<Path> all = Files.walk(durable)) {
      for (Path one : all.toList()) {
        assertThat(one).matches(path -> !Files.isSymbolicLink(path), "is no link");
        if (one.startsWith(durable.resolve("logs")) && Files.isRegularFile(one)) {
          copies.put(
              durable.resolve("logs").relativize(one).toString(),
              PosixFilePermissions.toString(Files.getPosixFilePermissions(one)).substring(3)
                  + " "
                  + Files.readString(one).strip());
        }
      }
    }
    assertThat(copies.keySet())
        .containsExactlyInAnyOrder(expected.replace("ID", id).split(" ", -1));
    assertThat(copies.get(expected.replace("ID", id).split(" ", -1)[0])).isEqualTo("r----- hello");
    Path gone = durable.resolve("logs").resolve(copies.keySet().iterator().next());
    Files.delete(gone);
    Files.createSymbolicLink(gone, run.logs());
    assertThat(ada.type("audit").err()).contains("the records of 1 run have no copies");
    assertThat(ada.type("audit", "--repair").exit()).isZero();
    assertThat(gone).isRegularFile().matches(path -> !Files.isSymbolicLink(path), "is no link");
  }

  @Test
  void aFolderOfCheckpointsAlsoGetsThePlanAndTheHistoryOfItsLastCheckpoint() throws IOException {
    for (int step : new int[] {9, 10}) {
      Path checkpoint = Files.createDirectories(checkpoints().resolve("checkpoint-" + step));
      Files.writeString(
          checkpoint.resolve("trainer_state.json"),
          "{\"global_step\": " + step + ", \"log_history\": [{\"step\": " + step + "}]}");
    }
    Files.createDirectories(checkpoints().resolve("checkpoint-8"));
    Files.writeString(checkpoints().resolve("checkpoint-8/trainer_state.json"), "{\"half");
    ends();

    assertThat(checkpoints().resolve("manifest.json")).hasSameTextualContentAs(run.manifest());
    assertThat(checkpoints().resolve("config.yaml")).hasSameTextualContentAs(run.plan());
    assertThat(checkpoints().resolve("logs.json"))
        .content()
        .matches("(?s)\\[\\s*\\{\\s*\"step\": ?10\\s*}\\s*]\\s*");
  }

  @Test
  void aTierThatIsNotOnThisHostGetsNoCopies() {
    ends();

    assertThat(durable).doesNotExist();
    assertThat(ada.type("audit").exit()).isZero();
  }

  @Test
  void aCopyThatCannotBeWrittenDoesNotStopThePass() throws IOException {
    Files.createDirectories(durable);
    Files.writeString(durable.resolve("manifests"), "in the way");
    Submission submission = RunState.of(run.journal().read()).submissions().get(0);
    ada.program("sacct", ":\n" + Terminal.accountingRow(100, 0, "COMPLETED", submission.key()));

    Screen pass = ada.type("reconcile");

    assertThat(pass.err())
        .contains("its records could not be copied to " + durable)
        .contains("`nexa-slurm audit --repair " + run.id() + "` copies them");
    assertThat(ada.type("runs", "show", run.id().value()).out()).contains("completed");
  }

  @Test
  void auditFindsAChangedCopyAndRepairsIt() throws IOException {
    Files.createDirectories(durable);
    ends();
    Path copy = durable.resolve("manifests/cost_" + run.id() + ".json");
    Files.writeString(copy, "{\"total\": 0}");

    Screen audit = ada.type("audit");
    assertThat(audit.exit()).isEqualTo(1);
    assertThat(audit.out() + audit.err()).contains(copy + " is not the run's record any more");

    Screen repair = ada.type("audit", "--repair");
    assertThat(repair.exit()).as(repair.out() + repair.err()).isZero();
    assertThat(repair.out() + repair.err()).contains("copied to the durable tier again");
    assertThat(copy).hasSameTextualContentAs(run.cost());
  }

  @Test
  void auditNotesRunsWithoutCopiesAndRepairWritesThem() throws IOException {
    ends();
    Files.createDirectories(durable);

    Screen audit = ada.type("audit");
    assertThat(audit.exit()).isZero();
    assertThat(audit.err()).contains("the records of 1 run have no copies");

    assertThat(ada.type("audit", "--repair").exit()).isZero();
    assertThat(durable.resolve("manifests/" + run.id() + ".json"))
        .hasSameTextualContentAs(run.manifest());
    assertThat(ada.type("audit").err()).doesNotContain("copies");
  }
}
