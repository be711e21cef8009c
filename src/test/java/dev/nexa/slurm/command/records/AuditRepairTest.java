package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Tree;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What {@code audit --repair} mends of a finished run: afterwards an audit finds nothing, and the
 * money is what it was. What it can't prove it leaves, and says so.
 */
@Tag("long")
class AuditRepairTest {
  private static final long SEED = Long.getLong("repair.seed", 5);

  @TempDir private Path folder;
  private Terminal ada;
  private Workspace workspace;
  private final List<RunFolder> runs = new ArrayList<>();
  private String costs = "";

  @BeforeEach
  void twoFinishedRuns() {
    ada = new Terminal(folder).withSlurm();
    workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\n"
            + "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n");
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 64, memory: 100G, time: 2h}\narray: {shards: 2}\n");
    ada.program(
        "sbatch",
        "n=100; [ -e %1$s/n ] && read n <%1$s/n; n=$((n + 10)); echo $n >%1$s/n; echo $n"
            .formatted(ada.bin));
    ada.file("configs/policy.yaml", "approval_over: {amount: 100.00, currency: USD}\n");
    StringBuilder rows = new StringBuilder(":");
    for (int i = 0; i < 2; i++) {
      assertThat(ada.type("submit", "run.yaml").exit()).isZero();
      runs.add(workspace.run(workspace.latest()));
      for (Submission submission : state(runs.get(i)).submissions()) {
        for (int task : submission.tasks().indices()) {
          rows.append('\n')
              .append(
                  Terminal.accountingRow(
                      submission.jobId().orElseThrow(), task, "COMPLETED", submission.key()));
        }
      }
    }
    ada.program("sacct", rows.toString());
    ada.type("reconcile");
    costs = ada.type("costs").out();
    assertThat(ada.type("audit").exit()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theJournalsLastLineIsWrittenAgain(boolean accountingRemembers) throws IOException {
    String journal = DurableFiles.read(journal());
    cutLastLine();
    assertThat(ada.type("audit").exit()).isEqualTo(1);
    if (!accountingRemembers) {
      ada.program("sacct", ":");
    }

    Screen screen = ada.type("audit", "--repair");

    assertThat(screen.exit()).as(screen.out() + screen.err()).isZero();
    assertThat(screen.out())
        .contains(runs.get(0).id() + ": the last line of its journal was missing");
    assertThat(withoutTimes(DurableFiles.read(journal()))).isEqualTo(withoutTimes(journal));
    assertClean();
  }

  /** Its cost file was edited too, so nothing says what was final but accounting. */
  @Test
  void aJournalThatWasCutProvesNoEditedRecord() throws IOException {
    cutLastLine();
    ada.program("sacct", ":");
    edit(runs.get(0).cost(), "\"total\": ", "\"total\": 0.0");

    Screen screen = ada.type("audit", "--repair");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(state(runs.get(0)).finished()).isFalse();
    assertThat(workspace.isOpen(runs.get(0).id())).isFalse();
  }

  /** A rerun's lines are gone with the last one: the ledger knows a later end. */
  @Test
  void aJournalThatEndsBeforeARerunMakesNoOlderCostTrue() throws IOException {
    byte[] before = Files.readAllBytes(journal());
    assertThat(ada.type("rerun", runs.get(0).id().value(), "--tasks", "0").exit()).isZero();
    StringBuilder rows = new StringBuilder(":");
    for (RunFolder run : runs) {
      for (Submission submission : state(run).submissions()) {
        for (int task : submission.tasks().indices()) {
          rows.append('\n')
              .append(
                  Terminal.accountingRow(
                      submission.jobId().orElseThrow(),
                      task - submission.offset(),
                      "COMPLETED",
                      submission.key()));
        }
      }
    }
    ada.program("sacct", rows.toString());
    ada.type("reconcile");
    String cost = DurableFiles.read(runs.get(0).cost());
    assertThat(cost).contains("\"version\": 2");
    Files.write(journal(), before);

    Screen screen = ada.type("audit", "--repair");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).contains("has version 2, and its journal tells of 1");
    assertThat(DurableFiles.read(runs.get(0).cost())).isEqualTo(cost);
  }

  /** Any byte of any line, also of its run id. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBrokenLineOfTheLedgerIsReplacedAndKept(boolean accountingRemembers) throws IOException {
    Random random = new Random(SEED);
    Path ledger = new Ledger(workspace).files().get(0);
    byte[] whole = Files.readAllBytes(ledger);
    Tree before = new Tree(ada.workspace);
    if (!accountingRemembers) {
      ada.program("sacct", ":");
    }
    for (int i = 0; i < 12; i++) {
      byte[] edited = whole.clone();
      int at;
      do {
        // The id of the run is where a mend could go wrong: half of the edits are there.
        at = i % 2 == 0 ? random.nextInt(40) : random.nextInt(whole.length);
      } while (edited[at] == '\n');
      edited[at] = (byte) (edited[at] == '7' ? '8' : '7');
      Files.write(ledger, edited);
      String where = "byte " + at + " of " + new String(edited, StandardCharsets.UTF_8);
      assertThat(ada.type("audit").exit()).as(where).isEqualTo(1);

      Screen screen = ada.type("audit", "--repair");

      assertThat(screen.exit()).as(where + screen.out() + screen.err()).isZero();
      assertThat(screen.out()).contains("moved to runs/ledger-", ".rejected");
      assertThat(ada.type("costs").out()).as(where).isEqualTo(costs);
      Path rejected =
          ledger.resolveSibling(ledger.getFileName().toString().replace(".jsonl", ".rejected"));
      assertThat(Files.readAllLines(rejected)).hasSize(1);
      assertClean();
      before.restore();
    }
  }

  @Test
  void aLineOfARunThatIsNotThereIsADifference() throws IOException {
    RunFolder gone = runs.get(0);
    Tree.delete(gone.path());
    Tree.delete(gone.manifest());
    Tree.delete(gone.cost());

    for (String[] command : new String[][] {{"audit"}, {"audit", "--repair"}}) {
      Screen screen = ada.type(command);
      assertThat(screen.exit()).isEqualTo(1);
      assertThat(screen.out())
          .contains("ledger: " + gone.id() + " is completed and cost ", "are not there");
    }
    // Its broken line is all that is left of it.
    Path ledger = new Ledger(workspace).files().get(0);
    edit(
        ledger,
        "\"run_id\":\"" + gone.id() + "\",\"version\":1",
        "\"run_id\":\"" + gone.id() + "\",\"version\":3");
    assertThat(ada.type("audit", "--repair").exit()).isEqualTo(1);
    assertThat(DurableFiles.read(ledger)).contains(gone.id().value());
  }

  @Test
  void aRunWithoutItsFolderKeepsNoOtherFromItsRepair() throws IOException {
    Tree.delete(runs.get(0).path());
    String cost = DurableFiles.read(runs.get(1).cost());
    edit(runs.get(1).cost(), "\"total\": ", "\"total\": 1");
    Tree.delete(new Ledger(workspace).files().get(0));

    Screen screen = ada.type("audit", "--repair");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).contains(runs.get(0).id() + "/journal.jsonl: missing");
    assertThat(DurableFiles.read(runs.get(1).cost())).isEqualTo(cost);
    assertThat(ada.type("audit", runs.get(1).id().value()).exit()).isZero();
  }

  /** Whoever dies between two steps is followed by one who takes the rest. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aKilledRepairIsRepeated(int step) throws IOException {
    cutLastLine();
    Path ledger = new Ledger(workspace).files().get(0);
    edit(ledger, "\"status\":\"completed\"", "\"status\":\"comple7ed\"");
    edit(runs.get(1).cost(), "\"total\": ", "\"total\": 1");
    int[] passed = {0};
    Context dying =
        new Context(
            ada.workspace,
            Map.of("PATH", ada.bin.toString(), "HOME", folder.toString(), "USER", "ada"),
            point -> {
              if (passed[0]++ == step) {
                throw new Killed();
              }
            });
    try {
      new AuditRuns(dying, Progress.NONE).audit(true);
    } catch (Killed killed) {
      // As by SIGKILL.
    }

    ada.type("audit", "--repair");

    assertThat(ada.type("costs").out()).isEqualTo(costs);
    assertClean();
  }

  /** No RuntimeException, so that nothing takes it for a run's own failure. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** As from the folder that we are started in, with and without detours, and through a link. */
  @ParameterizedTest
  @ValueSource(strings = {"", "./", "src/../", "link"})
  void howeverTheWorkspaceIsNamed(String name) throws IOException {
    Path link = Files.createSymbolicLink(folder.resolve("link"), ada.workspace);
    // The tests start in a folder of links, so the detour ends beside the link's target.
    Path here =
        name.startsWith("src")
            ? Path.of("src").toRealPath().getParent()
            : Path.of("").toAbsolutePath();
    boolean linked = name.equals("link");
    String named = (linked ? "" : name) + here.relativize(linked ? link : ada.workspace);
    assertThat(Path.of(named)).isRelative();
    edit(runs.get(0).cost(), "\"total\": ", "\"total\": 1");
    for (String command :
        List.of(
            "audit",
            "audit --repair",
            "audit",
            "reconcile",
            "status",
            "runs list",
            "runs show latest",
            "costs",
            "costs show latest",
            "costs budget",
            "serve list",
            "logs latest",
            "estimate run.yaml --diff latest",
            "rerun latest",
            "rerun latest --tasks 0",
            "approvals list",
            "submit run.yaml")) {
      List<String> words = new ArrayList<>(List.of("--workspace", named));
      for (String word : command.split(" ", -1)) {
        words.add(word.equals("run.yaml") ? ada.workspace.resolve(word).toString() : word);
      }
      Screen relative = ada.type(words.toArray(String[]::new));
      assertThat(relative.err())
          .as(command)
          .doesNotContain("different type of Path", "Exception", "defect");
      boolean differs = command.equals("audit") && !relative.out().contains(" 0 differences");
      assertThat(relative.exit()).as(command + relative.err()).isIn(0, differs ? 1 : 0, 2);
    }
    assertThat(DurableFiles.read(runs.get(0).cost())).doesNotContain("\"total\": 10");
    assertThat(ada.type("audit").out()).contains(" 0 differences");
  }

  private void assertClean() {
    Screen screen = ada.type("audit");
    assertThat(screen.exit()).as(screen.out() + screen.err()).isZero();
    assertThat(screen.out()).contains(" 0 differences");
    assertThat(ada.type("audit", "--repair").out()).doesNotContain("repaired", "corrected");
    assertThat(workspace.openRuns()).isEmpty();
  }

  private Path journal() {
    return runs.get(0).path().resolve("journal.jsonl");
  }

  private void cutLastLine() throws IOException {
    List<String> lines = Files.readAllLines(journal());
    assertThat(lines.get(lines.size() - 1)).contains("\"event\":\"finished\"");
    Files.write(journal(), lines.subList(0, lines.size() - 1));
  }

  private static String withoutTimes(String journal) {
    return journal.replaceAll("\"at\":\"[^\"]*\"", "");
  }

  private static void edit(Path file, String what, String to) throws IOException {
    String text = DurableFiles.read(file);
    assertThat(text).contains(what);
    Files.delete(file);
    Files.writeString(
        file,
        text.replaceFirst(
            java.util.regex.Pattern.quote(what), java.util.regex.Matcher.quoteReplacement(to)));
  }

  private static RunState state(RunFolder run) {
    return RunState.of(run.journal().read());
  }
}
