package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names that tasks take on the scratch tier: templates/lib/nexa_storage.sh. */
@Tag("long")
class ScratchNamesTest {
  private static final String RUN = "train_20251101_143200";

  /** Takes a name, makes sure that the task's folder is there, and gives it back. */
  private static final String TASK =
      """
      set -euo pipefail
      nexa_claim() { :; }
      nexa_tidy() { :; }
      for ((i = 0; i < ROUNDS; i++)); do
        (
          source "$STORAGE"
          [[ -d $NEXA_TASK_SCRATCH ]] || echo "$NEXA_TASK_SCRATCH is not there"
          echo "${NEXA_RUN_SCRATCH##*/}"
          trap - EXIT
          nexa_give_back "$NEXA_TASK_SCRATCH"
        ) </dev/null
      done
      """;

  @TempDir Path folder;

  @BeforeEach
  void tiers() throws IOException {
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectory(folder.resolve(tier));
    }
  }

  private Process task(String workspace, int task, int rounds) throws IOException {
    Path run = folder.resolve(workspace + "/runs/" + RUN);
    Files.createDirectories(run);
    ProcessBuilder process = new ProcessBuilder("bash", "-c", TASK).redirectErrorStream(true);
    process
        .environment()
        .put("STORAGE", Path.of("templates/lib/nexa_storage.sh").toAbsolutePath().toString());
    process.environment().put("ROUNDS", String.valueOf(rounds));
    process.environment().put("NEXA_RUN_DIR", run.toString());
    process.environment().put("NEXA_RUN_ID", RUN);
    process.environment().put("NEXA_SUBMISSION", run + "/submissions/key");
    process.environment().put("NEXA_ATTEMPT", run + "/attempt." + task);
    process.environment().put("NEXA_TASK", String.valueOf(task));
    for (String tier : List.of("scratch", "durable", "shared")) {
      process
          .environment()
          .put("NEXA_" + tier.toUpperCase(Locale.ROOT), folder.resolve(tier).toString());
    }
    return process.redirectOutput(folder.resolve(workspace + "." + task).toFile()).start();
  }

  private List<String> names(String workspace, int task) throws IOException {
    return Files.readAllLines(folder.resolve(workspace + "." + task));
  }

  private void endsWell(List<Process> tasks) throws InterruptedException {
    for (Process task : tasks) {
      assertThat(task.waitFor(5, TimeUnit.MINUTES)).isTrue();
      assertThat(task.exitValue()).isZero();
    }
  }

  /** A task that ends removes the run's folder, while another task makes it. */
  @Test
  void tasksThatStartAndEndAtAnyTimeKeepTheRunsName() throws Exception {
    List<Process> tasks = new ArrayList<>();
    for (int task = 0; task < 4; task++) {
      tasks.add(task("ws", task, 12));
    }
    endsWell(tasks);

    for (int task = 0; task < 4; task++) {
      assertThat(names("ws", task)).hasSize(12).containsOnly(RUN);
    }
    assertThat(folder.resolve("scratch/" + RUN)).doesNotExist();
  }

  @Test
  void runsOfTwoWorkspacesNeverShareAName() throws Exception {
    List<Process> tasks = new ArrayList<>();
    for (int task = 0; task < 2; task++) {
      tasks.add(task("one", task, 5));
      tasks.add(task("two", task, 5));
    }
    endsWell(tasks);

    List<String> one = new ArrayList<>(names("one", 0));
    one.addAll(names("one", 1));
    List<String> two = new ArrayList<>(names("two", 0));
    two.addAll(names("two", 1));
    one.removeIf(line -> line.startsWith("nexa-slurm:"));
    two.removeIf(line -> line.startsWith("nexa-slurm:"));
    assertThat(one).hasSize(10).doesNotContainAnyElementsOf(two);
    assertThat(two).hasSize(10);
  }

  @Test
  void aFolderThatNoRunClaimedIsLeftAlone() throws Exception {
    Files.createDirectory(folder.resolve("scratch/" + RUN));
    Files.createFile(folder.resolve("scratch/" + RUN + "/data"));

    endsWell(List.of(task("ws", 0, 2)));

    assertThat(names("ws", 0)).contains(RUN + ".2").doesNotContain(RUN);
    assertThat(folder.resolve("scratch/" + RUN + "/data")).exists();
  }

  /**
   * Even if that user wrote that the name is this run's: what the task puts there could be changed.
   */
  @Test
  void aFolderOfAnotherUserIsNotUsed() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a folder away");
    Path claims = Files.createDirectory(folder.resolve("scratch/.nexa-scratch"));
    Files.writeString(claims.resolve(RUN), folder.resolve("ws/runs/" + RUN) + "\n");
    Path planted = Files.createDirectory(folder.resolve("scratch/" + RUN));
    Files.setAttribute(planted, "unix:uid", 65534);
    Path target = Files.createDirectory(folder.resolve("target"));
    Files.writeString(claims.resolve(RUN + ".2"), folder.resolve("ws/runs/" + RUN) + "\n");
    Files.createSymbolicLink(folder.resolve("scratch/" + RUN + ".2"), target);

    endsWell(List.of(task("ws", 0, 1)));

    assertThat(names("ws", 0)).contains(RUN + ".3").doesNotContain(RUN, RUN + ".2");
  }

  @Test
  void aLaterTaskForgetsNamesThatHaveNoFolderAfterThirtyDays() throws Exception {
    Path claims = Files.createDirectory(folder.resolve("scratch/.nexa-scratch"));
    Instant longAgo = Instant.now().minus(40, ChronoUnit.DAYS);
    for (String name : List.of("old", "kept", "new")) {
      Files.writeString(claims.resolve(name), "/elsewhere/runs/" + name + "\n");
      Files.setLastModifiedTime(
          claims.resolve(name), FileTime.from(name.equals("new") ? Instant.now() : longAgo));
    }
    Files.createDirectory(folder.resolve("scratch/kept"));

    endsWell(List.of(task("ws", 0, 1)));

    assertThat(claims.resolve("old")).doesNotExist();
    assertThat(claims.resolve("kept")).exists();
    assertThat(claims.resolve("new")).exists();
  }

  /** Reconcile calls this when the run has ended. */
  @Test
  void theEndedRunsNamesWithoutAFolderAreReleased() throws Exception {
    Path claims = Files.createDirectory(folder.resolve("scratch/.nexa-scratch"));
    RunFolder run = new Workspace(folder.resolve("ws"), DurableFiles.onDisk()).run(new RunId(RUN));
    for (String name : List.of(RUN, RUN + ".2", RUN + ".3")) {
      Files.writeString(claims.resolve(name), run.path() + "\n");
    }
    Files.writeString(claims.resolve(RUN), "/elsewhere/runs/" + RUN + "\n");
    Files.createDirectory(folder.resolve("scratch/" + RUN + ".2"));

    new StorageClaims(
            new Storage(
                folder + "/scratch", folder + "/durable", folder + "/shared", Optional.empty()))
        .releaseScratch(run);

    assertThat(claims.toFile().list()).containsExactlyInAnyOrder(RUN, RUN + ".2");
  }
}
