package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CleanupCommandTest {
  private static final String RUN = "train_20251001_143200";

  @TempDir Path folder;
  private CleanupSite site;

  @BeforeEach
  void begin() {
    site = new CleanupSite(folder);
  }

  private Screen type(String... arguments) {
    return site.terminal.type(arguments);
  }

  private static String reason(Screen screen, Path path) {
    for (JsonObject kept : screen.json().objects("keeps")) {
      if (kept.text("path").equals(path.toString())) {
        return kept.text("reason");
      }
    }
    return "not kept";
  }

  private Screen look() {
    Screen screen = type("cleanup", "--dry-run", "--json", "--prune-size", "0");
    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    return screen;
  }

  private static List<String> removes(Screen screen) {
    return screen.json().objects("removes").stream().map(one -> one.text("path")).toList();
  }

  @Test
  void scratchOfAnEndedRunGoesToTheTrashAndComesBack() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "content");

    Screen dry = type("cleanup", "--dry-run");
    assertThat(dry.out()).contains("REMOVES", left.toString(), "7 bytes", "nothing was removed");
    assertThat(left).exists();

    Screen done = type("cleanup", "--yes");
    assertThat(done.exit()).as(done.toString()).isZero();
    assertThat(done.out())
        .contains("moved 1 path into the trash: 7 bytes", "cleanup --undo cleanup_");
    assertThat(left).doesNotExist();
    String id =
        type("cleanup", "list", "--json").json().objects("cleanups").get(0).text("cleanup_id");
    assertThat(site.scratch.resolve(".nexa-trash/" + id + "/1." + RUN + "/task_0/data.bin"))
        .hasContent("content");

    Screen undone = type("cleanup", "--undo", id);
    assertThat(undone.exit()).as(undone.toString()).isZero();
    assertThat(undone.out()).contains("brought back " + left);
    assertThat(left.resolve("task_0/data.bin")).hasContent("content");
    assertThat(site.scratch.resolve(".nexa-trash")).doesNotExist();
    assertThat(type("cleanup", "--undo", id).out()).contains("nothing of it is in the trash");
  }

  @Test
  void aLaterCleanupDeletesTheTrash() {
    site.scratchOf(site.ended(RUN), "content");

    assertThat(type("cleanup", "--yes", "--grace", "0d").exit()).isZero();
    Screen later = type("cleanup", "--yes");

    assertThat(later.out()).contains("deleted 1 path from the trash: 7 bytes");
    assertThat(site.scratch.resolve(".nexa-trash")).doesNotExist();
    assertThat(site.scratch.resolve(RUN)).doesNotExist();
    String id =
        type("cleanup", "list", "--json").json().objects("cleanups").get(0).text("cleanup_id");
    Screen undo = type("cleanup", "--undo", id);
    assertThat(undo.out()).contains("it was deleted after its grace period");
    assertThat(undo.exit()).isEqualTo(1);
  }

  @Test
  void withinTheGracePeriodNothingIsDeleted() {
    site.scratchOf(site.ended(RUN), "content");
    type("cleanup", "--yes", "--grace", "1h");

    assertThat(type("cleanup", "--yes").out()).contains("nothing to remove");
    assertThat(site.scratch.resolve(".nexa-trash")).exists();
    // The claim stays as long as the folder may come back.
    assertThat(site.scratch.resolve(".nexa-scratch/" + RUN)).exists();
  }

  @Test
  void itAsksAtATerminalAndNeedsYesElsewhere() {
    Path left = site.scratchOf(site.ended(RUN), "content");

    Screen nobody = type("cleanup");
    assertThat(nobody.exit()).isEqualTo(2);
    assertThat(nobody.err())
        .contains("this would move 1 path (7 bytes)", "nobody can be asked here", "add --yes");
    Screen no = site.terminal.answering("n\n").type("cleanup");
    assertThat(no.err()).contains("Move 1 path (7 bytes) into the trash for 3d? [y/N]");
    assertThat(no.out()).contains("nothing was removed");
    assertThat(left).exists();
    site.terminal.answering("y\n").type("cleanup");
    assertThat(left).doesNotExist();
  }

  @Test
  void ofCheckpointsTheBestAndTheLastStay() {
    Path all =
        site.checkpointsOf(
            site.ended(RUN),
            Optional.of("checkpoint-2"),
            "checkpoint-1",
            "checkpoint-2",
            "checkpoint-3",
            "checkpoint-10",
            "final");

    Screen plan = look();

    assertThat(removes(plan))
        .containsExactly(
            all.resolve("checkpoint-1").toString(), all.resolve("checkpoint-3").toString());
    assertThat(reason(plan, all.resolve("checkpoint-2"))).contains("the best checkpoint");
    assertThat(reason(plan, all.resolve("checkpoint-10"))).contains("the last checkpoint");
    assertThat(type("cleanup", "--dry-run").out())
        .contains("not more than --prune-size +2G", "nothing to remove");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          runs/manifests/eval_20251101_143200.json | {"model": "PATH"}    | the manifest eval_
          configs/train/next.yaml                  | model_name: PATH     | the config next.yaml
          estimates/1f0c.json                      | {"x": "PATH/a.bin"}  | the estimate 1f0c
          """)
  void whatADocumentRefersToStays(String file, String text, String reason) {
    Path all =
        site.checkpointsOf(
            site.ended(RUN), Optional.empty(), "checkpoint-1", "checkpoint-2", "checkpoint-3");
    site.terminal.file(file, text.replace("PATH", all.resolve("checkpoint-1").toString()));

    Screen plan = look();

    assertThat(reason(plan, all.resolve("checkpoint-1")))
        .startsWith(reason)
        .endsWith("refers to it");
    assertThat(removes(plan)).containsExactly(all.resolve("checkpoint-2").toString());
  }

  @Test
  void aRegistryADeployedLinkAServerAndAnOpenRunKeepWhatTheyName() throws IOException {
    Path all =
        site.checkpointsOf(
            site.ended(RUN),
            Optional.empty(),
            "checkpoint-1",
            "checkpoint-2",
            "checkpoint-3",
            "checkpoint-4",
            "checkpoint-5",
            "checkpoint-6");
    CleanupSite.write(
        site.durable.resolve("manifests/dataset_registry.yaml"),
        "a: " + all.resolve("checkpoint-1"));
    Files.createDirectories(site.durable.resolve("deploy"));
    Files.createSymbolicLink(
        site.durable.resolve("deploy/current_model"), all.resolve("checkpoint-2"));
    CleanupSite.write(
        site.shared.resolve("active_jobs/s.json"),
        "{\"m\": \"" + all.resolve("checkpoint-3") + "\"}");
    RunFolder open = site.run("eval_20251102_143200", false);
    CleanupSite.write(open.plan(), "{\"m\": \"" + all.resolve("checkpoint-4") + "\"}");

    Screen plan = look();

    assertThat(removes(plan)).containsExactly(all.resolve("checkpoint-5").toString());
    assertThat(reason(plan, all.resolve("checkpoint-1"))).contains("dataset registry");
    assertThat(reason(plan, all.resolve("checkpoint-2"))).contains("deployed model");
    assertThat(reason(plan, all.resolve("checkpoint-3"))).contains("server");
    assertThat(reason(plan, all.resolve("checkpoint-4"))).contains("the open run eval_20251102");
  }

  @Test
  void withoutWordOfTheBestCheckpointAllStay() throws IOException {
    Path all = site.checkpointsOf(site.ended(RUN), Optional.empty(), "step_1", "step_2", "step_3");
    for (String name : List.of("step_1", "step_2", "step_3")) {
      Files.delete(all.resolve(name).resolve("trainer_state.json"));
    }
    CleanupSite.old(all);

    assertThat(reason(look(), all.resolve("step_1")))
        .isEqualTo("nothing says which checkpoint is the best");

    Files.createSymbolicLink(all.resolve("best"), Path.of("step_1"));
    CleanupSite.old(all);
    assertThat(removes(look())).containsExactly(all.resolve("step_2").toString());
  }

  @Test
  void whatIsNotOursStays() throws IOException {
    CleanupSite.write(site.scratch.resolve("mine/notes.txt"), "x");
    CleanupSite.write(site.scratch.resolve("dataloader_cache/a"), "x");
    site.scratchOf(site.run("train_20251002_143200", false), "x");
    Path young = site.scratchOf(site.ended("train_20251003_143200"), "x");
    Files.writeString(young.resolve("task_0/new"), "x");
    RunFolder gone = site.ended("train_20251004_143200");
    Path orphan = site.scratchOf(gone, "x");
    Files.delete(gone.path().resolve("journal.jsonl"));

    Screen plan = look();

    assertThat(removes(plan)).isEmpty();
    assertThat(reason(plan, site.scratch.resolve("mine"))).isEqualTo("no run has claimed its name");
    assertThat(reason(plan, site.scratch.resolve("train_20251002_143200")))
        .isEqualTo("its run has not ended");
    assertThat(reason(plan, young)).isEqualTo("it was modified less than 7d ago");
    assertThat(reason(plan, orphan)).contains("has no journal");
    assertThat(reason(plan, site.scratch.resolve("dataloader_cache"))).isEqualTo("not kept");
  }

  @Test
  void twoWorkspacesThatShareTiersLeaveEachOtherAlone() {
    CleanupSite other = new CleanupSite(folder.resolve("other"), folder);
    Path mine = site.scratchOf(site.ended(RUN), "mine");
    Path theirs = site.scratchOf(other.ended(RUN), RUN + ".2", "theirs");
    Path checkpoints =
        other.checkpointsOf(
            other.ended("train_20251005_143200"), Optional.empty(), "checkpoint-1", "checkpoint-2");

    Screen plan = look();
    assertThat(removes(plan)).containsExactly(mine.toString());
    assertThat(reason(plan, theirs)).startsWith("it is not of this workspace: " + other.folder);
    assertThat(reason(plan, checkpoints)).startsWith("it is not of this workspace");
    type("cleanup", "--yes", "--grace", "0d");
    type("cleanup", "--yes");
    assertThat(theirs).exists();

    Screen done = other.terminal.type("cleanup", "--yes", "--prune-size", "0");
    assertThat(done.out()).as(done.toString()).contains("moved 2 paths");
    assertThat(theirs).doesNotExist();
  }

  @Test
  void aJobInTheQueueKeepsItsRun() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    site.terminal.program("squeue", Terminal.queueRow(4711, 0, "RUNNING", "None", RUN + ".abcdef"));

    assertThat(reason(look(), left)).isEqualTo("a job of its run is in the queue");
  }

  @Test
  void ifSqueueDoesNotAnswerNothingIsRemoved() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    site.terminal.program(
        "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");

    Screen refused = type("cleanup", "--yes");

    assertThat(refused.exit()).isEqualTo(4);
    assertThat(refused.err()).contains("squeue");
    assertThat(left).exists();
    assertThat(site.terminal.workspace.resolve("cleanup")).doesNotExist();
  }

  @Test
  void aDocumentThatCannotBeReadKeepsEverything() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Files.createDirectories(site.terminal.workspace.resolve("pipelines/pipeline_20251101_143200"));
    site.terminal.file("pipelines/pipeline_20251101_143200/pipeline.json", "{ broken");

    Screen refused = type("cleanup", "--yes");

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains("pipeline.json cannot be read, and may refer to files");
    assertThat(left).exists();
  }

  @Test
  void leftoversOfOursGo() throws IOException {
    RunFolder run = site.ended(RUN);
    Path claim =
        CleanupSite.old(
            CleanupSite.write(site.scratch.resolve(".nexa-scratch/" + RUN), run.path() + "\n"));
    Path temporary =
        CleanupSite.old(
            CleanupSite.write(site.shared.resolve("active_jobs/.x.json.host.123.4.tmp"), ""));
    Path foreign =
        CleanupSite.old(CleanupSite.write(site.shared.resolve("active_jobs/.x.tmp"), ""));
    CleanupSite.write(site.durable.resolve(".nexa-runs/" + RUN), run.path() + "\n");
    Path empty = Files.createDirectories(site.durable.resolve("checkpoints/" + RUN));
    CleanupSite.old(empty);

    assertThat(removes(look()))
        .containsExactlyInAnyOrder(claim.toString(), temporary.toString(), empty.toString());
    assertThat(type("cleanup", "--yes").exit()).isZero();
    assertThat(foreign).exists();
    assertThat(claim).doesNotExist();
  }

  @Test
  void undoSaysWhatItCannotBringBack() {
    RunFolder run = site.ended(RUN);
    Path left = site.scratchOf(run, "old");
    type("cleanup", "--yes");
    site.scratchOf(run, "new");
    String id =
        type("cleanup", "list", "--json").json().objects("cleanups").get(0).text("cleanup_id");

    Screen undo = type("cleanup", "--undo", id);

    assertThat(undo.exit()).isEqualTo(1);
    assertThat(undo.out()).contains("not done: " + left, "exists again", ".nexa-trash/" + id);
    assertThat(left.resolve("task_0/data.bin")).hasContent("new");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --days x         | --days: expected a whole number of days
          --days -1        | --days: expected a whole number of days
          --prune-size 2   | --prune-size: expected a size with its unit
          --prune-size -2G | --prune-size: expected a size with its unit
          --grace soon     | --grace: expected a time
          --grace 99999999d | --grace: expected a time such as 12h or 3d, at most 3650d
          --tier s3        | --tier: expected scratch, durable or shared
          --undo ../x      | '../x' is no cleanup
          --undo cleanup_20251101_143200_k3x9ab | there is no cleanup
          """)
  void aWrongValueIsRefused(String arguments, String message) {
    Screen screen = type(("cleanup --yes " + arguments).split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(message);
  }

  @Test
  void aSmallPruneSizeIsTaken() {
    Screen dry = type("cleanup", "--dry-run", "--prune-size", "+100K");

    assertThat(dry.exit()).as(dry.toString()).isZero();
  }

  @Test
  void aPassCleansUpOnceADay() throws IOException {
    Files.createDirectories(site.terminal.workspace.resolve("runs/open"));
    Path left = site.scratchOf(site.ended(RUN), "x");

    Screen first = type("reconcile", "--quiet", "--cleanup", "7");

    assertThat(first.exit()).as(first.toString()).isZero();
    assertThat(first.err()).contains("cleanup: moved 1 path (1 byte) into the trash of cleanup_");
    assertThat(left).doesNotExist();
    Path next = site.scratchOf(site.ended("train_20251002_143200"), "x");
    assertThat(type("reconcile", "--quiet", "--cleanup", "7").err()).isEmpty();
    assertThat(next).exists();
    CleanupSite.old(site.terminal.workspace.resolve(".nexa/cleaned"));
    type("reconcile", "--quiet", "--cleanup", "7");
    assertThat(next).doesNotExist();
    assertThat(type("reconcile", "--cleanup", "x").exit()).isEqualTo(2);
  }

  /** Cron mails each line: what must be mended is said each day, the rest beside what was done. */
  @Test
  void aPassSaysWhatTheCleanupNotes() throws IOException {
    Files.createDirectories(site.terminal.workspace.resolve("runs/open"));
    Path absent = folder.resolve("absent");
    site.terminal.file(
        "configs/clusters/other.yaml",
        "storage: {scratch: %s, durable: %s, shared: %s}\n"
            .formatted(absent, site.durable, site.shared));
    String[] pass = {"reconcile", "--quiet", "--cleanup", "7"};
    assertThat(type(pass).err()).isEmpty();

    Path journal = site.terminal.workspace.resolve("cleanup/cleanup_20251101_143200_k3x9ab.jsonl");
    CleanupSite.write(journal, "{ bro\n");
    CleanupSite.old(site.terminal.workspace.resolve(".nexa/cleaned"));
    assertThat(type(pass).err())
        .contains("cleanup: note: " + journal, "stays there for now")
        .doesNotContain("is not on this host");

    site.scratchOf(site.ended(RUN), "x");
    CleanupSite.old(site.terminal.workspace.resolve(".nexa/cleaned"));
    String done = type(pass).err();
    assertThat(done)
        .contains("cleanup: moved 1 path", "cleanup: note: " + journal)
        .contains("cleanup: note: " + absent + " (storage.scratch in ", "is not on this host");
  }

  @Test
  void aClosedPipelineKeepsWhatItsNextRunCanReuse() {
    Path all =
        site.checkpointsOf(site.ended(RUN), Optional.empty(), "checkpoint-1", "checkpoint-2");
    Path scratch = site.scratchOf(site.ended("train_20251002_143200"), "x");
    String stage =
        """
        {"stage": "NAME", "config": "x", "run_id": "RUN", "after": {}, "tasks": 1, "total": "0",
         "config_digest": "a", "script_digest": "b"}""";
    String text =
        """
        {"schema_version": 1, "pipeline_id": "pipeline_20251001_143200", "name": "nightly", "file": "f",
         "user": "ada", "created": "2025-10-01T14:32:00Z", "scheduler": "slurm", "stages": [STAGES],
         "total": "0", "currency": "USD"}"""
            .replace(
                "STAGES",
                stage.replace("NAME", "a").replace("RUN", RUN)
                    + ","
                    + stage.replace("NAME", "b").replace("RUN", "train_20251002_143200"));
    site.terminal.file("pipelines/pipeline_20251001_143200/pipeline.json", text);

    Screen closed = look();
    assertThat(reason(closed, all)).isEqualTo("the next run of the pipeline nightly can reuse it");
    assertThat(removes(closed)).containsExactly(scratch.toString());

    site.terminal.file("pipelines/open/pipeline_20251001_143200", "");
    Screen open = look();
    assertThat(removes(open)).isEmpty();
    assertThat(reason(open, scratch))
        .isEqualTo("the pipeline pipeline_20251001_143200 has not ended");
  }
}
