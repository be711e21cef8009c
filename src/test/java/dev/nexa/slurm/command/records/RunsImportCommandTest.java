package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With an sacct that prints the rows of a file, whatever it is asked. */
class RunsImportCommandTest {
  private static final String US = "\u001f";
  private static final long NOON = 1_761_998_400;
  private static final String[] NOVEMBER = {
    "runs",
    "import",
    "--from",
    "sacct",
    "--account",
    "nlp",
    "--since",
    "2025-11-01",
    "--until",
    "2025-11-08"
  };

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm();
    terminal.program("sacct", "echo \"$*\" >>$HOME/calls; exec /bin/cat $HOME/rows");
  }

  @Test
  void jobsBecomeFinishedRunsAndOnlyOnce() throws IOException {
    rows(
        row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G,gres/gpu=2,gres/gpu:h100=2", "train"),
        row("8_3", "9", "COMPLETED", 0, 3600, "cpu=1,mem=1G", "sweep"),
        row("8_5", "8", "FAILED", 0, 1800, "cpu=1,mem=1G", "sweep"),
        row("10", "10", "REQUEUED", 0, 600, "cpu=10,mem=1G", "again"),
        row("10", "10", "COMPLETED", 900, 3600, "cpu=10,mem=1G", "again"),
        row("11", "11", "RUNNING", 0, 0, "cpu=1,mem=1G", "not yet"));

    Screen first = terminal.type(NOVEMBER);

    assertThat(first.exit()).as(first.err()).isZero();
    assertThat(first.out()).contains("3 imported (").contains("1 have not ended");
    JsonObject gpus = run("7");
    assertThat(gpus.object("manifest").text("status")).isEqualTo("completed");
    assertThat(gpus.object("manifest").text("hardware")).isEqualTo("2x h100");
    assertThat(gpus.object("manifest").text("created")).isEqualTo("2025-11-01T12:00:00Z");
    assertThat(gpus.object("manifest").texts("tags"))
        .containsExactly("imported", "user:ada", "account:nlp", "name:train");
    assertThat(gpus.object("cost").decimal("total")).isEqualByComparingTo("11.20");
    assertThat(gpus.object("cost").object("estimate").text("reservation")).isEqualTo("0");
    JsonObject array = run("8");
    assertThat(array.object("manifest").text("state")).isEqualTo("failed");
    assertThat(array.object("manifest").object("tasks").number("total")).isEqualTo(2);
    assertThat(array.object("cost").text("wasted")).isNotEqualTo("0");
    JsonObject requeued = run("10").object("cost").object("actual");
    assertThat(requeued.text("cpu_hours")).isEqualTo("9.1667");
    assertThat(requeued.objects("attempts"))
        .extracting(attempt -> attempt.text("name"))
        .containsExactly("again", "again");
    assertThat(problems("manifest", array.object("manifest"))).isEmpty();
    assertThat(problems("cost", run("10").object("cost"))).isEmpty();
    List<String> files = files();

    Screen second = terminal.type(NOVEMBER);

    assertThat(second.out()).startsWith("0 imported (0.00 USD), 3 were there");
    assertThat(files()).isEqualTo(files);
    assertThat(Files.readAllLines(ledger())).hasSize(3);
    assertThat(terminal.type("reconcile").out()).startsWith("0 unfinished runs");
  }

  /** 3.6 kWh, as Slurm measured it. */
  @Test
  void aBookWithAPriceOfEnergyChargesIt() throws IOException {
    Path prices = terminal.workspace.resolve("configs/prices/default.yaml");
    Files.createDirectories(prices.getParent());
    Files.writeString(
        prices,
        """
        currency: USD
        as_of: 2025-10-01
        cpu_hour: {price: 0.04, source: "list of 2025-10-01"}
        energy_kwh: {price: 0.50, source: "contract of 2025-10-01"}
        """);
    rows(
        row("7", "7", "COMPLETED", 0, 3600, "cpu=4,energy=12960000,mem=8G", "measured"),
        row("8", "8", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "not-measured"));

    assertThat(terminal.type(NOVEMBER).out()).contains("2 imported (2.12 USD)");

    JsonObject measured = run("7").object("cost");
    assertThat(measured.object("breakdown").decimal("energy_kwh")).isEqualByComparingTo("1.80");
    assertThat(problems("cost", measured)).isEmpty();
    assertThat(run("8").object("cost").texts("not_measured")).contains("energy_kwh");
    JsonObject group = terminal.type("costs", "--json").json().objects("groups").get(0);
    assertThat(group.object("breakdown").text("energy")).isEqualTo("1.80");
    assertThat(terminal.type("costs", "show", measured.text("run_id")).out())
        .containsPattern("energy +3.6 +kwh +0.50 +1.80");
    assertThat(terminal.type("audit").out()).contains(" 0 differences");
  }

  @Test
  void eachWeekIsAPhase() throws IOException {
    rows(
        row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "train"),
        row("8", "8", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "train"));
    RecordedProgress progress = new RecordedProgress();

    new ImportRuns(
            new Context(
                terminal.workspace,
                Map.of("PATH", terminal.bin.toString(), "HOME", folder.toString())),
            progress)
        .run(
            new ImportRuns.Asked(
                Optional.of("nlp"),
                Optional.empty(),
                Instant.parse("2025-11-01T00:00:00Z"),
                Instant.parse("2025-11-10T00:00:00Z"),
                Optional.empty(),
                true));

    assertThat(progress.lines())
        .containsExactly(
            "reading week 1 of 2 2 rows",
            "importing week 1 of 2 2/2 jobs",
            "reading week 2 of 2 2 rows");
  }

  @Test
  void ourOwnRunsAreLeftOut() throws IOException {
    Files.createDirectories(terminal.workspace.resolve("runs/train_20251101_110000"));
    rows(
        row("7", "7", "COMPLETED", 0, 60, "cpu=1,mem=1G", "train_20251101_110000.abc123"),
        row("8", "8", "COMPLETED", 0, 60, "cpu=1,mem=1G", "train_20251101_110001.abc123"));

    assertThat(terminal.type(NOVEMBER).out())
        .contains("1 imported (")
        .contains("1 are of runs of this workspace");
  }

  /** As slurmdbd shows them until slurmctld reports their start; seen with 22.05.8. */
  @Test
  void aJobWhoseStartWasNotReportedYetIsImportedLater() throws IOException {
    long now = Instant.now().getEpochSecond() - NOON;
    String before = row("7", "7", "COMPLETED", now - 99, now - 98, "cpu=1,mem=1G", "own");
    String unnamed =
        row("8", "8", "COMPLETED", now - 99, now - 98, "cpu=1,mem=1G", "allocation")
            .replace(US + "gpu" + US, US + US);
    String one = row("9_6", "9", "COMPLETED", now - 6, now - 5, "cpu=1,mem=1G", "sweep");
    String[] command = {"runs", "import", "--from", "sacct", "--account", "nlp", "--since", "1h"};
    rows(before, unnamed, one);

    Screen early = terminal.type(command);

    assertThat(early.exit()).as(early.err()).isZero();
    assertThat(early.out()).contains("1 imported (").contains("2 have not ended");

    rows(
        before,
        row("8", "8", "COMPLETED", now - 99, now - 98, "cpu=1,mem=1G", "named"),
        row("9_2", "10", "COMPLETED", now - 96, now - 95, "cpu=1,mem=1G", "sweep"),
        row("9_6", "9", "COMPLETED", now - 96, now - 95, "cpu=1,mem=1G", "sweep"));

    assertThat(terminal.type(command).out()).contains("2 imported (").contains("1 were there");
    assertThat(run("9").object("manifest").object("tasks").number("total")).isEqualTo(2);
  }

  /** slurmctld died before it reported the start. */
  @Test
  void aJobWhoseNameAccountingNeverLearnsIsImportedAfterADay() throws IOException {
    rows(
        row("9", "9", "COMPLETED", 0, 60, "cpu=1,mem=1G", "allocation")
            .replace(US + "gpu" + US, US + US));

    assertThat(terminal.type(NOVEMBER).out()).contains("1 imported (");
  }

  @Test
  void aGpuWithoutAPriceIsToldAndTheOthersAreImported() throws IOException {
    rows(
        row("7", "7", "COMPLETED", 0, 60, "cpu=1,mem=1G,gres/gpu=1,gres/gpu:b200=1", "x"),
        row("8", "8", "COMPLETED", 0, 60, "cpu=1,mem=1G", "y"));

    Screen screen = terminal.type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).contains("1 imported (").contains("1 left out");
    assertThat(screen.err())
        .contains("job 7 of ada is left out: price book 'default' has no price for GPU type 'b200'")
        .contains("gpu_hour.b200");
    assertThat(Files.exists(terminal.workspace.resolve("runs/imported_20251101_120000_2")))
        .isFalse();
  }

  /** Whatever was written last when the process was killed. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({"nothing but the folder", "the journal's first line", "all but its last line"})
  void aCrashNeitherDoublesNorLoses(String left) throws IOException {
    rows(row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "train"));
    terminal.type(NOVEMBER);
    Path run = terminal.workspace.resolve("runs/imported_20251101_120000");
    Path journal = run.resolve("journal.jsonl");
    String manifest = Files.readString(manifest("imported_20251101_120000"));
    String ledger = Files.readString(ledger());
    String first = Files.readAllLines(journal).get(0) + "\n";
    if (left.startsWith("nothing")) {
      Files.delete(journal);
    } else {
      Files.writeString(journal, first);
    }
    if (!left.startsWith("all")) {
      Files.delete(manifest("imported_20251101_120000"));
      Files.delete(ledger());
    }

    assertThat(terminal.type(NOVEMBER).out()).contains("1 imported (");

    assertThat(manifest("imported_20251101_120000")).content().isEqualTo(manifest);
    assertThat(ledger()).content().isEqualTo(ledger);
    assertThat(Files.readAllLines(journal)).hasSize(2);
    assertThat(terminal.type(NOVEMBER).out()).startsWith("0 imported (0.00 USD), 1 were there");
    assertThat(run.resolveSibling("imported_20251101_120000_2")).doesNotExist();
  }

  @Test
  void jobsOfOneSecondAreToldApart() throws IOException {
    rows(
        row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "a"),
        row("8", "8", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "b"));

    assertThat(terminal.type(NOVEMBER).out()).contains("2 imported (");
    assertThat(terminal.type(NOVEMBER).out()).startsWith("0 imported (0.00 USD), 2 were there");
    assertThat(run("8").object("manifest").text("run_id")).isEqualTo("imported_20251101_120000_2");
  }

  @Test
  void aDryRunWritesNothing() throws IOException {
    rows(row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "train"));
    List<String> all = new ArrayList<>(List.of(NOVEMBER));
    all.addAll(List.of("--dry-run", "--json"));

    JsonObject json = terminal.type(all.toArray(String[]::new)).json();

    assertThat(json.objects("imported").get(0))
        .returns(7L, job -> job.number("job_id"))
        .returns("0.20", job -> job.text("cost"));
    assertThat(json.text("total")).isEqualTo("0.20");
    assertThat(terminal.workspace).isEmptyDirectory();
  }

  @Test
  void aLongTimeIsAskedForInWindowsByAccountOrUser() throws IOException {
    rows();
    terminal.type(
        "runs",
        "import",
        "--from",
        "sacct",
        "--account",
        "nlp",
        "--since",
        "2025-11-01",
        "--until",
        "2025-11-16",
        "--timezone",
        "UTC");
    Screen berlin =
        terminal.type(
            "runs import --from sacct --since 2025-11-01 --until 2025-11-02 --timezone Europe/Berlin"
                .split(" ", -1));
    assertThat(berlin.out())
        .contains(
            "ended from 2025-11-01T00:00:00+01:00 (Europe/Berlin)"
                + " to 2025-11-02T00:00:00+01:00 (Europe/Berlin)");

    List<String> calls = Files.readAllLines(folder.resolve("calls"));
    assertThat(calls).hasSize(4).allMatch(call -> call.contains("--allocations --duplicates"));
    assertThat(calls.get(0))
        .endsWith(
            "--starttime=2025-11-01T00:00:00 --endtime=2025-11-08T00:00:00 --accounts=nlp --allusers");
    assertThat(calls.get(1))
        .contains("--starttime=2025-11-08T00:00:00 --endtime=2025-11-15T00:00:00");
    assertThat(calls.get(2))
        .contains("--starttime=2025-11-15T00:00:00 --endtime=2025-11-16T00:00:00");
    assertThat(calls.get(3))
        .endsWith("--starttime=2025-10-31T23:00:00 --endtime=2025-11-01T23:00:00 --user=ada");
  }

  @Test
  void aJobIsImportedInTheWindowInWhichItEndedAndAttemptsBeforeItCount() throws IOException {
    // Only the question by id tells of the first attempt, which ended before the window.
    String early = row("7", "7", "REQUEUED", -90_000, -86_400 / 2, "cpu=1,mem=1G", "x");
    String late = row("7", "7", "COMPLETED", 0, 3600, "cpu=1,mem=1G", "x");
    Files.writeString(folder.resolve("all"), early + "\n" + late + "\n");
    rows(late);
    terminal.program(
        "sacct",
        "case $* in *--jobs=7) exec /bin/cat $HOME/all;; *) exec /bin/cat $HOME/rows;; esac");

    assertThat(terminal.type(NOVEMBER).out()).contains("1 imported (");

    assertThat(run("7").object("cost").object("actual").objects("attempts")).hasSize(2);
    assertThat(run("7").object("manifest").text("run_id")).isEqualTo("imported_20251031_110000");
    assertThat(terminal.type(NOVEMBER).out()).startsWith("0 imported (0.00 USD), 1 were there");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          runs import                                        | --from: expected sacct
          runs import --from squeue                          | got squeue
          runs import --from sacct --since soon              | --since: expected a time such as 7d
          runs import --from sacct --since 1d --until 2d     | is not before
          runs import --from sacct --account a;b             | --account: expected names
          """)
  void whatIsWrongIsToldBeforeSlurmIsAsked(String command, String said) {
    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(said);
    assertThat(folder.resolve("calls")).doesNotExist();
  }

  @Test
  void anOutageIsNoEmptyAnswer() {
    terminal.program("sacct", "echo 'Connection refused' >&2; exit 1");

    Screen screen = terminal.type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.err()).contains("sacct failed: Connection refused");
  }

  /** Captured: sacct 22.05.8 --user=nosuch. */
  @Test
  void aNameThatNobodyHasIsNoOutage() {
    terminal.program("sacct", "echo 'sacct: error: Invalid user id: nosuch' >&2; exit 1");

    Screen screen = terminal.type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("Invalid user id: nosuch", "sacctmgr show user");
  }

  /** Of an account that nobody has sacct says nothing. */
  @Test
  void noJobAtAllIsTold() throws IOException {
    rows();
    assertThat(terminal.type(NOVEMBER).err()).contains("accounting has no such job");
  }

  @Test
  void anImportedRunHasNoLogsAndNoScript() throws IOException {
    rows(row("7", "7", "COMPLETED", 0, 3600, "cpu=4,mem=8G", "train\u001b[2Jx"));
    terminal.type(NOVEMBER);

    assertThat(terminal.type("logs", "7").err()).contains("was not submitted from this workspace");
    assertThat(terminal.type("rerun", "imported_20251101_120000").err())
        .contains("was not submitted from here");
    assertThat(terminal.type("runs", "list").out()).contains("name:train?[2Jx");
    assertThat(terminal.type("cancel", "imported_20251101_120000").out())
        .startsWith("imported_20251101_120000 has ended: completed, 2025-11-01 ");
    assertThat(terminal.type("status", "imported_20251101_120000").exit()).isZero();
  }

  private static List<String> problems(String schema, JsonObject document) {
    Path file = Path.of("docs/schemas", schema + ".schema.json");
    return SchemaCheck.problems(Json.parseObject(DurableFiles.read(file)), Json.pretty(document));
  }

  private JsonObject run(String job) {
    Screen shown = terminal.type("runs", "show", job, "--json");
    assertThat(shown.exit()).as(shown.err()).isZero();
    return shown.json();
  }

  private Path manifest(String run) {
    return terminal.workspace.resolve("runs/manifests/" + run + ".json");
  }

  private Path ledger() {
    return terminal.workspace.resolve("runs/ledger-2025-11.jsonl");
  }

  /** Every file of the workspace with when it was last written. */
  private List<String> files() throws IOException {
    List<String> all = new ArrayList<>();
    try (Stream<Path> tree = Files.walk(terminal.workspace.resolve("runs"))) {
      for (Path file : tree.filter(Files::isRegularFile).sorted().toList()) {
        all.add(file + " " + Files.getLastModifiedTime(file));
      }
    }
    return all;
  }

  private void rows(String... rows) throws IOException {
    Files.writeString(folder.resolve("rows"), String.join("\n", rows) + "\n");
  }

  /** Submitted as it began; seconds from noon of November 1st. */
  private static String row(
      String id, String raw, String state, long start, long end, String tres, String name) {
    boolean ended = !state.equals("RUNNING");
    return String.join(
        US,
        raw,
        id,
        "alps",
        "ada",
        "nlp",
        "gpu",
        state,
        "0:0",
        "" + (NOON + start),
        "" + (NOON + start),
        ended ? "" + (NOON + end) : "Unknown",
        "" + (ended ? end - start : 0),
        "1",
        "n1",
        tres + ",node=1",
        name,
        "None",
        tres + ",node=1",
        "00:00:00",
        tres.replaceAll(".*cpu=(\\d+).*", "$1"));
  }
}
