package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunFolderTest {
  private static final Instant AT = Instant.parse("2025-11-01T14:32:00Z");

  private final Workspace workspace = Workspaces.inMemory();
  private final RunFolder run = workspace.claim("train", AT);

  @Test
  void whatWillRunIsKeptByteForByteAndReadOnly() throws IOException {
    Script script =
        new Script(
            "#!/bin/bash\n",
            List.of(
                RunnerFile.text("run.sh", "echo é\n"),
                RunnerFile.text("0/point.env", "a"),
                RunnerFile.text("0/trl.yaml", "b"),
                RunnerFile.text("1/point.env", "c")),
            "jar:x");

    run.stage(
        script,
        PlanFile.parse("{\"schema_version\":1,\"tasks\":2}", "plan.json"),
        EstimateFile.parse("{\"b\":2}", "estimate.json"));

    assertThat(run.script()).hasContent("#!/bin/bash\n");
    assertThat(run.path().resolve("runner/run.sh")).hasContent("echo é\n");
    assertThat(run.shownPlan().tasks()).isEqualTo(2);
    assertThat(run.shownEstimate().json()).hasToString("{\"b\":2}");
    assertThat(run.logs()).isDirectory();
    for (Path file :
        List.of(
            run.script(),
            run.plan(),
            run.estimate(),
            run.path().resolve("runner/run.sh"),
            run.path().resolve("runner/0/point.env"),
            run.path().resolve("runner/0/trl.yaml"),
            run.path().resolve("runner/1/point.env"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .as("%s", file)
          .isEqualTo("r--------");
    }
  }

  @Test
  void aSubmissionHasATaskListAndRoomForClaimsAndResults() {
    run.stageSubmission("train_20251101_143200.abc123", IndexRange.parse("1,3-5"), 0);

    Path folder = run.submission("train_20251101_143200.abc123");
    assertThat(folder.resolve("tasks")).hasContent("1,3-5\n");
    assertThat(folder.resolve("offset")).hasContent("0\n");
    assertThat(folder.resolve("claims")).isDirectory();
    assertThat(folder.resolve("results")).isDirectory();
  }

  @Test
  void aPercentSignOfThePathIsDoubledOrSlurmWouldExpandIt() {
    Path odd = workspace.root().resolve("50%A");

    assertThat(RunFolder.logPattern(odd, "#!/bin/bash\n#SBATCH --array=0-3\n"))
        .isEqualTo("/home/ada/science/50%%A/%A_%a.out");
    assertThat(RunFolder.logPattern(odd, "#!/bin/bash\n"))
        .isEqualTo("/home/ada/science/50%%A/%A_0.out");
  }

  @Test
  void manifestAndCostLieBesideThoseOfOtherRuns() {
    assertThat(run.manifest())
        .hasToString("/home/ada/science/runs/manifests/train_20251101_143200.json");
    assertThat(run.cost())
        .hasToString("/home/ada/science/runs/manifests/cost_train_20251101_143200.json");
  }

  @Test
  void oneProcessAtATimeMayActOnARun() {
    Optional<FileLock> first = run.lock(Duration.ZERO);

    assertThat(first).isPresent();
    assertThat(run.lock(Duration.ZERO)).isEmpty();

    first.get().close();
    assertThat(run.lock(Duration.ZERO)).isPresent();
  }

  @Test
  void aLockOfAProcessThatIsGoneIsTakenOver() throws IOException {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();
    lockedBy(me.host() + " " + me.pid() + " " + me.started().minusSeconds(5) + " " + AT);

    assertThat(run.lock(Duration.ZERO)).isPresent();
  }

  @Test
  void aLockOfAnotherHostIsTakenOverAfterAnHour() throws IOException {
    Instant now = Instant.now();
    lockedBy("elsewhere 17 " + AT + " " + now.minusSeconds(3500) + " 1 1");
    assertThat(run.lock(Duration.ZERO)).isEmpty();

    lockedBy("elsewhere 17 " + AT + " " + now.minusSeconds(3700) + " 1 1");
    assertThat(run.lock(Duration.ZERO)).isPresent();
  }

  /** A loss of power cuts it. */
  @Test
  void aLockWhoseNameIsCutIsNobodys() throws IOException {
    ProcessIdentity me = ProcessIdentity.ofThisProcess();
    String whole = me.host() + " " + me.pid() + " " + me.started() + " " + Instant.now();
    for (int length = 0; length < whole.length(); length++) {
      lockedBy(whole.substring(0, length));
      assertThat(run.lock(Duration.ZERO)).as(whole.substring(0, length)).isPresent();
    }
    lockedBy(whole);
    assertThat(run.lock(Duration.ZERO)).isEmpty();
  }

  private void lockedBy(String owner) throws IOException {
    Files.writeString(run.path().resolve(".lock"), owner);
  }
}
