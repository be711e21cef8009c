package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.CleanupJournal;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import dev.nexa.slurm.storage.cleanup.CleanupStep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One odd file keeps its own folder and ends no cleanup; the journal says what happened. */
class CleanupOddFilesTest {
  private static final String RUN = "train_20251001_143200";
  private static final String OTHER = "train_20251002_143200";

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

  private static void sh(Path at, String script) throws Exception {
    Process process =
        new ProcessBuilder("sh", "-c", script).directory(at.toFile()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void aClaimThatCannotBeReadKeepsItsOwnFolderOnly() {
    Path mine = site.scratchOf(site.ended(RUN), "x");
    Path odd = site.scratchOf(site.ended(OTHER), "x");
    CleanupSite.write(site.scratch.resolve(".nexa-scratch/" + OTHER), "x".repeat(9000));

    Screen done = type("cleanup", "--yes", "--json");

    assertThat(done.exit()).as(done.toString()).isZero();
    assertThat(mine).doesNotExist();
    assertThat(reason(done, odd))
        .startsWith("its claim " + site.scratch.resolve(".nexa-scratch/" + OTHER) + " of ")
        .endsWith("cannot be read: it has more than 8192 bytes");
  }

  @Test
  void namesThatAreNotUtf8AreCountedMovedAndDeleted() throws Exception {
    Path left = site.scratchOf(site.ended(RUN), "x");
    sh(left, "d=$(printf 'd\\377') && mkdir $d && echo 12345 > $d/$(printf 'f\\377\\303')");
    CleanupSite.write(site.scratch.resolve(".nexa-scratch/name"), "x");
    sh(site.scratch, "mkdir $(printf 'other\\377')");
    sh(left, "find . -exec touch -d '30 days ago' {} +");

    Screen plan = type("cleanup", "--dry-run", "--json");
    assertThat(plan.json().objects("removes").get(0).number("files")).isEqualTo(2);
    assertThat(plan.json().objects("removes").get(0).number("bytes")).isEqualTo(7);

    assertThat(type("cleanup", "--yes", "--grace", "0d").exit()).isZero();
    Screen deleted = type("cleanup", "--yes");

    assertThat(deleted.exit()).as(deleted.toString()).isZero();
    assertThat(site.scratch.resolve(".nexa-trash")).doesNotExist();
  }

  @Test
  void aNewFileWithAnOddNameKeepsTheFolder() throws Exception {
    Path left = site.scratchOf(site.ended(RUN), "x");
    sh(left, "echo > $(printf 'new\\377')");

    assertThat(reason(type("cleanup", "--dry-run", "--json"), left))
        .isEqualTo("it was modified less than 7d ago");
  }

  @Test
  void anotherUsersFileInTheFolderKeepsIt() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")));
    Path left = site.scratchOf(site.ended(RUN), "x");
    sh(left, "chown nobody task_0/data.bin");

    assertThat(reason(type("cleanup", "--dry-run", "--json"), left))
        .isEqualTo(left.resolve("task_0/data.bin") + " belongs to nobody");
  }

  @Test
  void aTimeInTheFutureIsNamed() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Files.setLastModifiedTime(
        left.resolve("task_0/data.bin"), FileTime.from(Instant.parse("2090-01-01T00:00:00Z")));

    assertThat(reason(type("cleanup", "--dry-run", "--json"), left))
        .isEqualTo("it was modified in the future: at 2090-01-01T00:00:00Z");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"type":"moved","number":1}                                             | line 1 cannot be read
          {"type":"begun"}                                                        | line 1 cannot be read
          { bro                                                                   | line 1 cannot be read
          {"type":"begun","schema_version":9,"at":"2025-11-01T00:00:00Z"}         | schema_version is 9
          """)
  void aDamagedJournalIsNamedAndOthersGoOn(String line, String why) {
    String id = "cleanup_20251101_143200_k3x9ab";
    Path journal = site.terminal.workspace.resolve("cleanup/" + id + ".jsonl");
    CleanupSite.write(journal, line + "\n");
    Path left = site.scratchOf(site.ended(RUN), "x");

    Screen list = type("cleanup", "list");
    assertThat(list.exit()).isZero();
    assertThat(list.err()).contains("note: " + journal, why);
    assertThat(type("cleanup", "list", "--json").json().texts("notes")).hasSize(1);
    Screen done = type("cleanup", "--yes");
    assertThat(done.exit()).as(done.toString()).isZero();
    assertThat(done.err()).contains(why, "stays there for now");
    assertThat(left).doesNotExist();
    assertThat(journal).hasContent(line);
    Screen undo = type("cleanup", "--undo", id);
    assertThat(undo.err()).contains("[journal-damaged]", why, ".nexa-trash/" + id);
  }

  /** Another thing than a kill: the process goes on, and its next act fails. */
  private static final class Stopped extends Error {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void aMoveThatWasAnnouncedOnlyIsSettledByTheNextCleanup() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    CleanTiers stopped =
        site.clean(
            step -> {
              if (step == CleanupStep.ANNOUNCED) {
                throw new Stopped();
              }
            });
    try {
      stopped.run(site.plan(stopped, Duration.ofDays(3)));
    } catch (Stopped killed) {
      assertThat(left).exists();
    }
    String first = CleanupJournal.all(site.workspace).get(0).id().value();

    assertThat(type("cleanup", "--yes").out()).contains("moved 1 path");

    Screen undo = type("cleanup", "--undo", first);
    assertThat(undo.exit()).as(undo.toString()).isZero();
    assertThat(undo.out()).contains("nothing of it is in the trash");
    for (JsonObject listed : type("cleanup", "list", "--json").json().objects("cleanups")) {
      assertThat(listed.number("in_trash"))
          .isEqualTo(listed.text("cleanup_id").equals(first) ? 0 : 1);
    }
  }

  @Test
  void aMoveThatFailsLeavesNothingInTheTrash() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    CleanTiers clean =
        site.clean(
            step -> {
              if (step == CleanupStep.ANNOUNCED) {
                rename(left, folder.resolve("aside"));
              }
            });
    Done done = clean.run(site.plan(clean, Duration.ofDays(3)));
    rename(folder.resolve("aside"), left);

    assertThat(done.moved()).isEmpty();
    assertThat(done.failed()).hasSize(1);
    JsonObject listed = type("cleanup", "list", "--json").json().objects("cleanups").get(0);
    assertThat(listed.number("in_trash")).isZero();
    assertThat(listed.number("deleted")).isZero();
  }

  /** Between the plan and its own move, while the paths before it are moved. */
  @Test
  void whatChangesBeforeItsTurnStays() {
    Path first = site.scratchOf(site.ended(RUN), "x");
    Path second = site.scratchOf(site.ended(OTHER), "x");
    CleanTiers clean =
        site.clean(
            step -> {
              if (step == CleanupStep.MOVED) {
                CleanupSite.write(second.resolve("written-meanwhile"), "y");
              }
            });

    Done done = clean.run(site.plan(clean, Duration.ofDays(3)));

    assertThat(first).doesNotExist();
    assertThat(done.failed()).hasSize(1);
    assertThat(done.failed().get(0).path()).isEqualTo(second);
    assertThat(done.failed().get(0).reason()).isEqualTo("it changed while the cleanup ran");
    assertThat(second.resolve("written-meanwhile")).hasContent("y");
  }

  @Test
  void whatTookThePlaceOfAFolderAtTheLastMomentIsPutBack() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    CleanTiers clean =
        site.clean(
            step -> {
              if (step == CleanupStep.ANNOUNCED) {
                rename(left, folder.resolve("aside"));
                CleanupSite.write(left.resolve("mine"), "y");
              }
            });

    Done done = clean.run(site.plan(clean, Duration.ofDays(3)));

    assertThat(done.moved()).isEmpty();
    assertThat(done.failed().get(0).reason()).isEqualTo("it changed while the cleanup ran");
    assertThat(left.resolve("mine")).hasContent("y");
  }

  private static void rename(Path from, Path to) {
    try {
      Files.move(from, to);
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  @Test
  void ofADiskThatGetsFullTheMovedPathsAreNamed() {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Path other = site.scratchOf(site.ended(OTHER), "x");
    AtomicInteger moves = new AtomicInteger();
    CleanTiers clean =
        site.clean(
            step -> {
              if (step == CleanupStep.ANNOUNCED && moves.incrementAndGet() == 2) {
                throw new java.io.UncheckedIOException(new IOException("No space left on device"));
              }
            });

    Done done = clean.run(site.plan(clean, Duration.ofDays(3)));

    assertThat(done.moved()).hasSize(1);
    assertThat(done.failed()).hasSize(1);
    assertThat(done.failed().get(0).reason()).contains("No space left on device");
    assertThat(left).doesNotExist();
    assertThat(other).exists();
    assertThat(type("cleanup", "--undo", done.id().orElseThrow().value()).exit()).isZero();
    assertThat(left).exists();
  }

  @Test
  void aWorkspaceThatIsNamedByALinkKnowsItsRuns() throws IOException {
    Path left = site.scratchOf(site.ended(RUN), "x");
    Path link = Files.createSymbolicLink(folder.resolve("link"), site.terminal.workspace);

    Screen done = type("--workspace", link.toString(), "cleanup", "--yes");

    assertThat(done.out()).as(done.toString()).contains("moved 1 path");
    assertThat(left).doesNotExist();
  }

  @Test
  void anAnswerOfSqueueThatCannotBeReadEndsTheCleanup() {
    RunFolder run = site.ended(RUN);
    Path left = site.scratchOf(run, "x");
    site.terminal.program("squeue", "echo '4711 main train ada R 0:01'");

    Screen refused = type("cleanup", "--yes");

    assertThat(refused.exit()).isEqualTo(4);
    assertThat(refused.err())
        .contains("squeue failed: it printed a line that cannot be read: 4711 main train");
    assertThat(left).exists();
    site.terminal.program("squeue", "exit 127");
    assertThat(type("cleanup", "--yes").err())
        .contains("squeue ended with 127 and printed no error");
    site.terminal.program(
        "squeue",
        "echo CLUSTER: a; "
            + Terminal.queueRow(4711, 0, "RUNNING", "None", "train_20251009_143200.abcdef"));
    assertThat(reason(type("cleanup", "--dry-run", "--json"), left)).contains("in the queue");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--dry-run", "--days=3", "--tier=scratch", "--quiet", "--grace=1d"})
  void undoTakesNoOptionOfACleanup(String option) {
    Path left = site.scratchOf(site.ended(RUN), "x");
    type("cleanup", "--yes");
    String id = CleanupJournal.all(site.workspace).get(0).id().value();

    Screen refused = type("cleanup", "--undo", id, option);

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains(option.split("=", -1)[0] + " cannot be given with --undo");
    assertThat(left).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          cleanup -n           | Did you mean: --dry-run
          cleanup --dryrun     | Did you mean: --dry-run
          cleanup train_1      | cleanup takes no run and no path; it looks at all runs
          cleanup undo x       | nexa-slurm cleanup --undo ID
          """)
  void aHabitIsAnswered(String typed, String answer) {
    Screen refused = type(typed.split(" ", -1));

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains(answer).doesNotContain("--yes");
  }

  @Test
  void noCommandSuggestsYes() {
    for (String typed :
        new String[] {"cleanup -q", "cleanup --ye", "cleanup --force", "sync to-s3 -q"}) {
      assertThat(type(typed.split(" ", -1)).err()).doesNotContain("--yes");
    }
    assertThat(Optional.of(type("cleanup", "-q").exit())).contains(2);
  }
}
