package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.status.AwaitRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What can be asked about a run of two tasks, submitted as job 4711. */
class CommandsOnRunsTest {
  @TempDir Path folder;

  private Terminal terminal;
  private String run;
  private String key;

  @BeforeEach
  void submit() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\narray: {shards: 2}\n"
                    + "resources: {time: 10m, memory: 1G}\n");
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    run = json.text("run_id");
    key = json.objects("jobs").get(0).text("name");
  }

  @ParameterizedTest
  @ValueSource(strings = {"latest", "RUN", "4711", "4711_1"})
  void aRunIsFoundByWhateverNameItHas(String reference) {
    String name = reference.equals("RUN") ? run : reference;
    log(1, "hello from task 1\n");
    log(0, "hello from task 0\n");

    assertThat(terminal.type("runs", "show", name).out()).startsWith("run         " + run);
    assertThat(terminal.type("status", name, "--json").json().objects("runs").get(0).text("run_id"))
        .isEqualTo(run);
    assertThat(terminal.type("logs", name).out())
        .isEqualTo(
            name.endsWith("_1")
                ? "hello from task 1\n"
                : "[0] hello from task 0\n[1] hello from task 1\n");
    terminal.program("squeue", Terminal.queueRow(4711, 1, "PENDING", "Priority", key));
    assertThat(terminal.type("cancel", name).exit()).isZero();
    assertThat(terminal.argv("scancel"))
        .containsExactly(name.endsWith("_1") ? "4711_1" : "--name=" + key + " 4711");
  }

  @Test
  void cancelAllAsksAndThenEndsEachUnfinishedRun() {
    terminal.program("squeue", Terminal.queueRow(4711, 0, "PENDING", "Priority", key));

    Screen nobody = terminal.type("cancel", "--all");
    assertThat(nobody.exit()).isEqualTo(2);
    assertThat(nobody.err())
        .contains("nobody can be asked here whether to cancel ", ", so nothing was cancelled")
        .contains("→ add --yes to cancel all, or name the runs: nexa-slurm cancel RUN");
    Screen no = terminal.answering("n\n").type("cancel", "--all");
    assertThat(no.err()).contains("  " + run + "  queued", "Cancel this run? [y/N] ");
    assertThat(no.out()).isEqualTo("Nothing was cancelled.\n");
    assertThat(terminal.argv("scancel")).isEmpty();

    Screen yes = terminal.answering("y\n").type("cancel", "--all");
    assertThat(yes.out()).startsWith(run + ": Cancelling job 4711. ");
    assertThat(terminal.argv("scancel")).containsExactly("--name=" + key + " 4711");
    assertThat(terminal.type("cancel", "--all", run).err())
        .startsWith("nexa-slurm: --all ends all runs, and the command also names " + run);
    assertThat(terminal.type("cancel").err())
        .contains("Missing required parameter: 'RUN'", "→ to end all: nexa-slurm cancel --all");
  }

  @Test
  void aRankThatTheTaskDoesNotHaveIsNamedWithThoseThatItHas() {
    assertThat(terminal.type("logs", "--rank", "4", "4711_0").err())
        .startsWith(
            "nexa-slurm: there is no rank 4: a task of " + run + " is one process, without ranks")
        .contains("→ nexa-slurm logs --task 0 " + run);
    terminal.file("train.py", "print()\n");
    String two =
        terminal.type("submit", "train.py", "--gpus", "h100:2", "--json").json().text("run_id");
    assertThat(terminal.type("logs", "--rank", "2", two).err())
        .startsWith("nexa-slurm: there is no rank 2: a task of " + two + " has ranks 0 to 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"data_20000101_000000", "4712", "4712_1", "nonsense", "../etc", ""})
  void aNameOfNoRunIsToldWithWhereTheOthersAre(String reference) {
    for (List<String> command :
        List.of(List.of("runs", "show"), List.of("status"), List.of("logs"), List.of("cancel"))) {
      Screen screen =
          terminal.type(
              Stream.concat(command.stream(), Stream.of(reference)).toArray(String[]::new));

      assertThat(screen.exit()).as("%s %s", command, reference).isEqualTo(2);
      assertThat(screen.err()).startsWith("nexa-slurm: ").contains("nexa-slurm runs list");
    }
  }

  /** Slurm's job ids begin again when its state is lost. */
  @Test
  void aJobIdThatWasGivenTwiceIsAskedAbout() {
    String second = terminal.type("submit", "run.yaml", "--json").json().text("run_id");

    Screen screen = terminal.type("runs", "show", "4711");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("job 4711 is of several runs: " + second + ", " + run);
  }

  @Test
  void statusIsATableThatSaysWhyARunWaits() {
    terminal.program(
        "squeue",
        Terminal.queueRow(4711, 0, "PENDING", "Priority", key)
            + "\n"
            + Terminal.queueRow(4711, 1, "PENDING", "Priority", key));

    Screen screen = terminal.type("status");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out())
        .startsWith("RUN ")
        .contains(run, "4711", "other jobs are ahead in the queue");
  }

  /**
   * slurmdbd is asked only once a task has left the queue. squeue and scontrol run at the same
   * time, so either may write its line first.
   */
  @Test
  void statusOfTenThousandActiveTasksAsksEachClientOnce() throws IOException {
    JsonObject large =
        terminal.type("submit", "run.yaml", "--set", "array.shards=10000", "--json").json();
    StringBuilder rows = new StringBuilder();
    for (JsonObject job : large.objects("jobs")) {
      for (int task = 0; task < 1001; task++) {
        rows.append(String.join("\u001f", "" + (5000 + task), "4711", "" + task, "RUNNING"))
            .append("\u001fNone\u001fN/A\u001fN/A\u001f" + job.text("name") + "\n");
      }
    }
    terminal.file("rows", rows.toString());
    terminal.program("squeue", "echo squeue >>$HOME/calls; exec /bin/cat $HOME/workspace/rows");
    terminal.program("sacct", "echo sacct >>$HOME/calls");
    terminal.program(
        "scontrol",
        "echo scontrol >>$HOME/calls; echo 'AccountingStorageType = accounting_storage/slurmdbd'");

    JsonObject status = terminal.type("status", large.text("run_id"), "--json").json();

    assertThat(large.objects("jobs").size()).isGreaterThan(9);
    assertThat(status.objects("runs").get(0).number("tasks_running")).isEqualTo(10_000);
    assertThat(Files.readAllLines(folder.resolve("calls")))
        .containsExactlyInAnyOrder("squeue", "scontrol");

    terminal.file("rows", rows.substring(rows.indexOf("\n") + 1));
    terminal.type("status", large.text("run_id"), "--json").json();

    assertThat(Files.readAllLines(folder.resolve("calls")))
        .containsExactlyInAnyOrder("squeue", "scontrol", "squeue", "scontrol", "sacct");
  }

  /** squeue lists it no more, and slurmdbd has no row of it for a second. */
  @Test
  void aRunThatHasJustEndedDoesNotWait() throws IOException {
    Path claims = terminal.workspace.resolve("runs/" + run + "/submissions/" + key + "/claims");
    Files.createDirectories(claims);
    Files.createSymbolicLink(claims.resolve("0"), Path.of("4712"));

    assertThat(terminal.type("status").out())
        .contains("ending", "it has left the queue")
        .doesNotContain("queued");
  }

  /** While it is waited for, its state does not go backwards to queued. */
  @Test
  void aRunThatHasJustEndedDoesNotSeemToWaitAgainWhileItIsWaitedFor() throws IOException {
    Path claims = terminal.workspace.resolve("runs/" + run + "/submissions/" + key + "/claims");
    Files.createDirectories(claims);
    Files.createSymbolicLink(claims.resolve("0"), Path.of("4712"));
    terminal.program(
        "sacct",
        "if [ -e $HOME/two ]; then "
            + Terminal.accountingRow(4711, 0, "FAILED", key)
            + "; "
            + Terminal.accountingRow(4711, 1, "FAILED", key)
            + "; elif [ -e $HOME/one ]; then : >$HOME/two; else : >$HOME/one; fi");
    Context context =
        new Context(
            terminal.workspace,
            Map.of("PATH", terminal.bin.toString(), "HOME", folder.toString(), "USER", "ada"));
    List<String> said = new ArrayList<>();

    new AwaitRun(context).await(context.workspace().run(RunId.parse(run).orElseThrow()), said::add);

    assertThat(said.stream().filter(line -> line.startsWith(run + ": ")))
        .containsExactly(
            run + ": ending; it has left the queue; accounting shows in a moment how it ended",
            run + ": failed (2 failed)");
  }

  @Test
  void theLogsOfARunThatWasCancelledBeforeItStartedAreNotWaitedFor() {
    String rows =
        Terminal.accountingRow(4711, 0, "CANCELLED by 1000", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "CANCELLED by 1000", key);
    terminal.program(
        "sacct",
        rows.replace("1762003600", "1762000000").replace("\u001f3600\u001f", "\u001f0\u001f"));

    for (String[] words : new String[][] {{"logs", run}, {"logs", "-f", run}, {"logs", "4711_1"}}) {
      Screen screen = terminal.type(words);

      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err())
          .contains(run + " was cancelled before it started: it printed nothing [logs-missing]")
          .doesNotContain("yet", "-f");
    }
  }

  @Test
  void statusSaysWhyARunThatSeemsToHaveEndedIsNotSettled() {
    String rows =
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key);
    terminal.program("sacct", rows.replace("\u001f3600\u001f", "\u001f7200\u001f"));

    JsonObject row = terminal.type("status", "--json").json().objects("runs").get(0);

    assertThat(row.text("note"))
        .startsWith("job 4711_0 in accounting: ")
        .contains("a run whose task has no other row waits");
  }

  @Test
  void theDocumentsHaveTheKeysThatScriptsRelyOn() {
    assertThat(
            terminal
                .type("runs", "list", "--json")
                .json()
                .objects("runs")
                .get(0)
                .members()
                .keySet())
        .contains("run_id", "stage", "status", "state", "tasks", "cost_usd");
    assertThat(terminal.type("runs", "show", "latest", "--json").json().members().keySet())
        .contains("manifest", "cost");
    assertThat(terminal.type("reconcile", "--json").json().members().keySet())
        .contains("runs_read", "runs_changed", "rows_read", "behind_since", "problems");
    assertThat(terminal.type("estimate", "run.yaml", "--json").json().members().keySet())
        .contains(
            "config_digest",
            "currency",
            "price_book",
            "tasks",
            "time_limit_seconds",
            "gpu_hours",
            "cpu_hours",
            "reservation",
            "expected",
            "approval_needed");
  }

  @Test
  void aRunThatIsOverIsReconciledOnceAndThenLeftAlone() throws IOException {
    terminal.program(
        "sacct",
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key));

    Screen first = terminal.type("reconcile");
    Map<String, String> files = files();
    Screen second = terminal.type("reconcile");

    assertThat(first.exit()).isZero();
    assertThat(first.out()).contains("1 unfinished run").contains("2 rows read");
    assertThat(second.out()).contains("0 unfinished runs");
    assertThat(files()).isEqualTo(files);
    JsonObject shown = terminal.type("runs", "show", "4711", "--json").json();
    assertThat(shown.object("manifest").text("status")).isEqualTo("completed");
    // Two CPU-hours at 0.04 and two GiB-hours at 0.005
    assertThat(shown.object("cost").decimal("total")).isEqualByComparingTo("0.09");
    assertThat(terminal.type("status").out()).startsWith("No unfinished runs.");
    Screen late = terminal.type("cancel", run);
    assertThat(late.exit()).isZero();
    assertThat(late.out())
        .startsWith(run + " has ended: completed, 2025-11-01 13:26:40 UTC. Nothing was cancelled.");
    assertThat(terminal.type("cancel", "4711_1").out())
        .startsWith("Task 1 of " + run + " has ended: completed, 2025-11-01 13:26:40 UTC.");
    assertThat(terminal.argv("scancel")).isEmpty();
  }

  @Test
  void whatHasEndedIsNotCancelledEvenBeforeAPassHasSettledIt() {
    String first = Terminal.accountingRow(4711, 0, "FAILED", key);
    terminal.program("sacct", first);
    terminal.program("squeue", Terminal.queueRow(4711, 1, "RUNNING", "None", key));

    assertThat(terminal.type("cancel", "4711_0").out())
        .startsWith("Task 0 of " + run + " has ended: failed, 2025-11-01 13:26:40 UTC.");
    assertThat(terminal.argv("scancel")).isEmpty();
    assertThat(terminal.type("cancel", run).out())
        .isEqualTo("Cancelling job 4711. Its cost appears after the next reconcile.\n");

    terminal.program("squeue", "");
    terminal.program("sacct", first + "\n" + Terminal.accountingRow(4711, 1, "COMPLETED", key));
    assertThat(terminal.type("cancel", run).out()).startsWith(run + " has ended: failed, ");
    assertThat(terminal.type("interrupt", run).err())
        .startsWith(
            "nexa-slurm: "
                + run
                + " has ended: failed; only a running task can be interrupted [run-not-suitable]");
    assertThat(terminal.argv("scancel")).hasSize(1);
  }

  /** Its records say what the submit knew: no pass has run. */
  @Test
  void showOfAnUnfinishedRunSaysWhatStatusSays() throws IOException {
    Map<String, String> files = files();
    terminal.program("sacct", Terminal.accountingRow(4711, 0, "COMPLETED", key));
    terminal.program("squeue", Terminal.queueRow(4711, 1, "RUNNING", "None", key));

    assertThat(terminal.type("runs", "show", run).out().lines())
        .contains(
            "status      running",
            "as of       now; `nexa-slurm reconcile` writes the records",
            "tasks       1 completed, 1 running",
            "cost        0.04 USD so far");
    assertThat(terminal.type("runs", "list").out())
        .containsPattern(run + " +running +running +- +1 CPU +0.04 USD");
    assertThat(files()).isEqualTo(files);
    terminal.program("squeue", "echo 'error: Connection refused' >&2; exit 1");
    Screen unanswered = terminal.type("runs", "list");
    assertThat(unanswered.out()).contains("submitted").doesNotContain("unconf");
    assertThat(unanswered.err())
        .isEqualTo(
            "note: the scheduler did not answer: the state of 1 run is that of the last pass;"
                + " `nexa-slurm reconcile` brings it up to date\n");
  }

  @Test
  void theRecordsNameTheVersionThatSubmittedTheRun() throws IOException {
    String rows =
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key);
    terminal.program("sacct", rows);

    terminal.type("reconcile");

    String version = ProgramVersion.read().number();
    JsonObject shown = terminal.type("runs", "show", run, "--json").json();
    assertThat(shown.object("manifest").text("nexa_slurm_version")).isEqualTo(version);
    assertThat(Files.readString(terminal.workspace.resolve("runs/" + run + "/plan.json")))
        .contains("\"nexa_slurm_version\": \"" + version + "\"");
  }

  @Test
  void showSaysHowOldItsRecordsAreWhereTheSchedulerDoesNotAnswer() {
    terminal.program("squeue", "echo 'slurm_load_jobs error: no' >&2; exit 1");

    assertThat(terminal.type("runs", "show", run).out())
        .containsPattern(
            "\nas of       20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC, the last pass;"
                + " `nexa-slurm reconcile` brings it up to date\n");
  }

  @Test
  void showOfAFinishedRunAsksNobody() {
    terminal.program(
        "sacct",
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key));
    terminal.type("reconcile");
    terminal.program("squeue", "touch " + terminal.bin.resolve("squeue.argv"));

    assertThat(terminal.type("runs", "show", run).out())
        .contains(
            "status      completed\n",
            "tasks       2 completed\n",
            "started     2025-11-01 12:26:40 UTC\n",
            "ended       2025-11-01 13:26:40 UTC\n")
        .doesNotContain("as of");
    assertThat(terminal.bin.resolve("squeue.argv")).doesNotExist();
  }

  @Test
  void aRunningRunShowsWhatItHasCostSoFar() {
    // No second more or less changes a rounded line.
    long begun = Instant.now().getEpochSecond() - 5400;
    terminal.program(
        "squeue",
        "printf '%s\\n' '"
            + String.join("\u001f", "4712", "4711", "0", "RUNNING", "None", "" + begun, "N/A", key)
            + "'");

    JsonObject row = terminal.type("status", "--json").json().objects("runs").get(0);
    assertThat(row.text("cost")).isEqualTo("0.00");
    // 1.5 CPU-hours at 0.04 and 1.5 GiB-hours at 0.005
    assertThat(row.text("cost_so_far")).isEqualTo("0.07");
    assertThat(terminal.type("status").out()).contains("SO FAR", "0.07 USD");
  }

  @Test
  void aNewRunIsQueued() {
    assertThat(terminal.type("status").out())
        .contains("queued")
        .doesNotContain("unconfirmed")
        .doesNotContain("SO FAR");
    terminal.program("squeue", Terminal.queueRow(4711, 0, "PENDING", "None", key));
    assertThat(terminal.type("status").out()).contains("queued (new)");
  }

  @Test
  void theWorkspacesOwnFilesAreNamedOnlyIfAsked() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 100, currency: USD}\n");

    assertThat(terminal.type("submit", "run.yaml").err()).doesNotContain("from the workspace");
    assertThat(terminal.type("submit", "run.yaml", "--verbose").err())
        .contains("from the workspace: configs/policy.yaml\n");
  }

  @Test
  void cancelNamesTheTask() {
    terminal.program("squeue", Terminal.queueRow(4711, 1, "RUNNING", "None", key));

    assertThat(terminal.type("cancel", "4711_1").out())
        .isEqualTo("Cancelling task 4711_1. Its cost appears after the next reconcile.\n");
  }

  /** Where Slurm cannot be asked how a job ended, it is asked to end it. */
  @Test
  void withoutAccountingsAnswerARunIsCancelled() {
    terminal.program("sacct", "echo 'sacct: error: no' >&2; exit 1");

    assertThat(terminal.type("cancel", run).exit()).isZero();
    assertThat(terminal.argv("scancel")).containsExactly("--name=" + key + " 4711");
  }

  @Test
  void theBeginningOfAnIdIsEnoughWhileOneRunHasIt() {
    assertThat(terminal.type("runs", "show", "data_2").out()).startsWith("run         " + run);

    List<String> more = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      more.add(0, terminal.type("submit", "run.yaml", "--json").json().text("run_id"));
    }
    Screen screen = terminal.type("cancel", "data_2");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .isEqualTo(
            "nexa-slurm: 7 run ids begin with 'data_2' [reference-ambiguous]\n"
                + "  → type more of the id\n"
                + "  → nexa-slurm cancel "
                + String.join("\n  → nexa-slurm cancel ", more.subList(0, 5))
                + "\n  → or one of 2 older: nexa-slurm runs list --limit 100\n");
    assertThat(terminal.argv("scancel")).isEmpty();
    // A whole id is never taken for the beginning of RUN_2.
    assertThat(terminal.type("runs", "show", run).out()).startsWith("run         " + run);
  }

  @Test
  void aRunIsFoundByItsName() {
    assertThat(terminal.type("status").out()).doesNotContain("NAME");
    String named =
        terminal
            .type("submit", "run.yaml", "--set", "name=science_v1", "--json")
            .json()
            .text("run_id");

    assertThat(terminal.type("runs", "show", "science_v1").out())
        .startsWith("run         " + named);
    assertThat(terminal.type("status").out()).contains("NAME", "science_v1");
    assertThat(terminal.type("runs", "list").out()).contains("NAME", "science_v1");
    assertThat(terminal.type("estimate", "run.yaml", "--diff", "science_v1").exit()).isZero();

    String again =
        terminal
            .type("submit", "run.yaml", "--set", "name=science_v1", "--json")
            .json()
            .text("run_id");
    Screen screen = terminal.type("logs", "science_v1");
    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("2 runs have the name 'science_v1' [reference-ambiguous]")
        .contains("  → nexa-slurm logs " + again + "\n  → nexa-slurm logs " + named + "\n");
  }

  /** The rows' further column is how long the tasks waited once they could begin. */
  @Test
  void whatTheProfileSaysThatSacctHasIsAskedForToo() {
    profileWith("sacct_fields: [Reserved]");
    terminal.program(
        "sacct",
        "printf '%s\\n' \"$@\" >$HOME/bin/sacct.argv\n"
            + further(Terminal.accountingRow(4711, 0, "COMPLETED", key), "1-00:00:05")
            + "\n"
            + further(Terminal.accountingRow(4711, 1, "COMPLETED", key), "INVALID"));

    assertThat(terminal.type("reconcile").exit()).isZero();

    assertThat(terminal.argv("sacct").toString())
        .contains("Reason,ReqTRES,Suspended,AllocCPUS,Reserved");
    List<JsonObject> attempts = attempts();
    assertThat(attempts.get(0).number("planned_seconds")).isEqualTo(86_405);
    assertThat(attempts.get(1).members()).doesNotContainKeys("planned_seconds", "restart");

    // Without the key now: what accounting tells no more of is no difference.
    profileWith("max_array_size: 1001");
    terminal.program(
        "sacct",
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key));
    assertThat(terminal.type("audit", "--json").json().texts("differences")).isEmpty();
  }

  /** Slurm was upgraded: passes go on without the field, and say so. */
  @Test
  void aFieldThatSacctHasNoMoreIsLeftOutAndTold() {
    profileWith("sacct_fields: [Reserved]");
    terminal.program(
        "sacct",
        "case \"$*\" in *Reserved*) echo 'sacct: error: Invalid field requested: \"Reserved\"' >&2; exit 1;; esac\n"
            + Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "COMPLETED", key));

    JsonObject pass = terminal.type("reconcile", "--json").json();

    assertThat(pass.number("rows_read")).isEqualTo(2);
    assertThat(pass.texts("problems"))
        .anySatisfy(
            problem ->
                assertThat(problem)
                    .contains("Invalid field requested", "slurm.sacct_fields", "nexa-slurm init"));
    assertThat(attempts()).hasSize(2);
  }

  private void profileWith(String slurm) {
    terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: /s, durable: /d, shared: /h}\nslurm: {" + slurm + "}\n");
  }

  private List<JsonObject> attempts() {
    return terminal
        .type("runs", "show", run, "--json")
        .json()
        .object("cost")
        .object("actual")
        .objects("attempts");
  }

  private static String further(String row, String column) {
    return row.substring(0, row.length() - 1) + "\u001f" + column + "'";
  }

  @ParameterizedTest
  @ValueSource(strings = {"squeue", "sacct", "scontrol"})
  void aSchedulerThatCannotBeAskedChangesNothing(String client) throws IOException {
    terminal.program(client, "echo 'error: Connection refused' >&2; exit 1");
    Map<String, String> before = files();

    for (List<String> command : List.of(List.of("reconcile"), List.of("status"))) {
      Screen screen = terminal.type(command.toArray(String[]::new));

      assertThat(screen.exit()).as("%s", command).isEqualTo(4);
      assertThat(screen.err()).contains(client + " failed: error: Connection refused");
    }
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void anOutageSaysSinceWhenNothingIsKnown() throws IOException {
    Instant before = Instant.now().minusSeconds(1);
    terminal.type("reconcile");
    terminal.program("sacct", "echo 'error: Connection refused' >&2; exit 1");

    Screen first = terminal.type("reconcile", "--json");
    Screen second = terminal.type("reconcile", "--json");

    assertThat(first.exit()).isEqualTo(4);
    assertThat(first.json().instant("behind_since")).isBetween(before, Instant.now());
    assertThat(first.json().texts("problems").get(0)).contains("Connection refused");
    assertThat(second.json().instant("behind_since"))
        .isEqualTo(first.json().instant("behind_since"));

    terminal.program("sacct", "");
    assertThat(terminal.type("reconcile", "--json").json().optionalText("behind_since")).isEmpty();
  }

  @Test
  void aRunThatIsBrokenIsAProblemAndHoldsUpNoOther() throws IOException {
    terminal.type("submit", "run.yaml", "--set", "stage=eval");
    Files.writeString(path("journal.jsonl"), "broken\n");

    Screen screen = terminal.type("reconcile", "--json");

    assertThat(screen.json().texts("problems")).hasSize(1);
    assertThat(screen.json().texts("problems").get(0)).contains(run).contains("journal.jsonl:1");
    assertThat(screen.json().number("runs_read")).isEqualTo(2);
  }

  @Test
  void aTaskThatHasPrintedNothingIsToldSo() {
    Screen screen = terminal.type("logs", run, "--task", "1");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("task 1 of " + run + " has printed nothing yet", "nexa-slurm status " + run);
  }

  @Test
  void aDamagedFileOfOursIsADefectWithoutAStackTraceUnlessAskedFor() throws IOException {
    Path manifest = terminal.workspace.resolve("runs/manifests/" + run + ".json");
    Files.delete(manifest);

    Screen screen = terminal.type("runs", "show", run);
    Screen traced = terminal.type("runs", "show", run, "--stacktrace");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err()).isEqualTo("nexa-slurm: No such file: " + manifest + " [io-failed]\n");
    assertThat(traced.err()).contains("\tat dev.nexa.slurm.");
  }

  private void log(int task, String text) {
    try {
      Files.writeString(path("logs/4711_" + task + ".out"), text);
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  private Path path(String name) {
    return terminal.workspace.resolve("runs").resolve(run).resolve(name);
  }

  /** Every file but the heartbeat, which each pass writes. */
  private Map<String, String> files() throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(terminal.workspace)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        if (!path.endsWith(".nexa/heartbeat.json")) {
          files.put(path.toString(), Files.readString(path));
        }
      }
    }
    return files;
  }
}
