package dev.nexa.slurm.command.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.insight.html.ManyReportedRuns;
import dev.nexa.slurm.insight.html.ScannedPage;
import dev.nexa.slurm.insight.html.ScannedPage.Element;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What `report` writes of a workspace with 40 finished runs; the newest has 120 tasks. */
class ReportCommandTest {
  private static final int RUNS = 40;
  private static final String ONE =
      "stage: %s\nbackend: shell\nrun: 'true'\nresources: {time: 10m, memory: 1G}\n";

  @TempDir Path folder;

  private Terminal terminal;
  private Path file;

  @BeforeEach
  void work() throws IOException {
    terminal = new Terminal(folder).withSlurm();
    ManyReportedRuns.write(terminal.workspace, RUNS, 120, Instant.now());
    file = folder.resolve("report.html");
  }

  private JsonObject report(String... options) {
    String[] words = new String[options.length + 4];
    System.arraycopy(new String[] {"report", "--json", "--out", file.toString()}, 0, words, 0, 4);
    System.arraycopy(options, 0, words, 4, options.length);
    Screen screen = terminal.type(words);
    assertThat(screen.exit()).as(screen.err()).isZero();
    return screen.json();
  }

  private ScannedPage page() throws IOException {
    return new ScannedPage(Files.readString(file));
  }

  private static List<String> ids(ScannedPage page) {
    return page.elements("section").stream().map(section -> section.attribute("id")).toList();
  }

  @Test
  void theWholeWorkspaceHasAllPages() throws IOException {
    JsonObject document = report();

    assertThat(document.number("schema_version")).isEqualTo(1);
    assertThat(document.text("file")).isEqualTo(file.toString());
    assertThat(document.number("bytes")).isEqualTo(Files.size(file));
    assertThat(document.number("runs")).isEqualTo(RUNS);
    assertThat(document.number("run_pages")).isEqualTo(RUNS);
    assertThat(document.number("pipelines")).isZero();
    assertThat(document.number("releases")).isZero();
    assertThat(document.texts("problems")).isEmpty();
    assertThat(ids(page()))
        .hasSize(RUNS + 6)
        .startsWith("overview", "runs", "pipelines", "releases")
        .endsWith("run-elsewhere", "about");
    // The newest run has more attempts than the page shows without scripts.
    assertThat(page().elements("script")).hasSize(3);
  }

  @Test
  void theSentenceSaysWhatWasWritten() throws IOException {
    Screen screen = terminal.type("report", "--out", file.toString());

    assertThat(screen.out())
        .isEqualTo("wrote " + file + ": 40 runs, " + Files.size(file) + " bytes\n");
    assertThat(screen.err()).isEmpty();
  }

  @Test
  void theSpendIsThatOfCosts() throws IOException {
    report();
    JsonObject costs = terminal.type("costs", "--by", "month", "--json").json();

    List<String> shown = page().texts();
    int months = 0;
    for (JsonObject group : costs.objects("groups")) {
      // The oldest runs may have ended in a thirteenth month.
      if (shown.contains(group.object("key").text("month"))) {
        BigDecimal cost = new BigDecimal(group.text("cost"));
        assertThat(shown).contains(String.format(Locale.ROOT, "%,.2f", cost));
        months++;
      }
    }
    assertThat(months).isGreaterThan(9);
  }

  @Test
  void detailsLimitsThePagesAndTheTableKeepsAllRuns() throws IOException {
    JsonObject document = report("--details", "3");

    assertThat(document.number("runs")).isEqualTo(RUNS);
    assertThat(document.number("run_pages")).isEqualTo(3);
    assertThat(ids(page()).stream().filter(id -> id.startsWith("run/"))).hasSize(3);
    assertThat(report("--details", "0").number("run_pages")).isZero();
  }

  /**
   * The tile counts all runs of the month; each of them is explained below it, or counted there.
   */
  @ParameterizedTest
  @ValueSource(strings = {"0", "3", "100"})
  void theFirstPageCountsEachFailureOfTheMonth(String details) throws IOException {
    int months = 0;
    for (String month : months()) {
      report("--month", month, "--details", details);
      String shown = String.join(" ", page().texts());
      Matcher tile = Pattern.compile("([0-9,]+) did not complete").matcher(shown);
      if (!tile.find()) {
        assertThat(shown).contains("No run of ", " failed, and no budget is near its end");
        continue;
      }
      months++;
      // These runs have no files, so that none is explained.
      assertThat(shown)
          .doesNotContain("No run of ")
          .containsPattern(tile.group(1) + " runs? +of [A-Z][a-z]+ [0-9]{4} did not complete");
    }
    assertThat(months).isGreaterThan(3);
  }

  private List<String> months() throws IOException {
    try (var all = Files.list(terminal.workspace.resolve("runs"))) {
      return all.map(one -> one.getFileName().toString())
          .filter(name -> name.startsWith("ledger-"))
          .map(name -> name.substring(7, 14))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "many", "1.5", "", "10000000"})
  void aNumberOfDetailsIsAWholeNumber(String typed) {
    Screen screen = terminal.type("report", "--details=" + typed, "--out", file.toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("--details");
    assertThat(file).doesNotExist();
  }

  /** What `monitor show` says of a run's use stands on its page, too. */
  @Test
  void aLostGpuIsOnThePageOfItsRun() throws IOException {
    report();
    String id =
        ids(page()).stream().filter(one -> one.startsWith("run/")).findFirst().orElseThrow();
    Path manifest = terminal.workspace.resolve("runs/manifests/" + id.substring(4) + ".json");
    JsonObject telemetry =
        Json.parseObject(
            """
            {"source": "nvidia-smi", "activity": "none", "files": 1, "samples": 9, "broken_lines": 0,
             "hangs": 0, "before": {}, "after": {},
             "lost_gpus": {"task": 0, "restart": 0, "node": "n1", "seen": 7, "expected": 8}}
            """);
    Files.writeString(
        manifest,
        Json.pretty(Json.parseObject(Files.readString(manifest)).with("telemetry", telemetry)));

    report();

    assertThat(page().texts())
        .anyMatch(text -> text.startsWith("node n1 showed 7 of 8 GPUs while task 0 ran"));
  }

  @Test
  void oneRunIsAReportWithoutSums() throws IOException {
    report();
    List<String> pages =
        ids(page()).stream()
            .filter(id -> id.startsWith("run/"))
            .map(id -> id.substring(4))
            .toList();
    String id = pages.get(7);
    Files.createDirectories(terminal.workspace.resolve("runs/" + id));

    JsonObject document = report("--run", id);

    assertThat(document.number("runs")).isEqualTo(1);
    assertThat(document.number("run_pages")).isEqualTo(1);
    assertThat(ids(page())).containsExactly("run/" + id, "runs", "run-elsewhere", "about");
  }

  @Test
  void oneMonthHasItsRunsOnly() throws IOException {
    Path ledger;
    try (var all = Files.list(terminal.workspace.resolve("runs"))) {
      ledger =
          all.filter(one -> one.getFileName().toString().startsWith("ledger-"))
              .sorted()
              .skip(3)
              .findFirst()
              .orElseThrow();
    }
    String month = ledger.getFileName().toString().substring(7, 14);

    JsonObject document = report("--month", month);

    assertThat(document.number("runs")).isEqualTo(Files.readAllLines(ledger).size());
    assertThat(ids(page())).startsWith("overview", "runs");
    assertThat(String.join("", page().texts())).contains("month " + month);
  }

  @Test
  void onePipelineHasItsGraphAndItsRuns() throws IOException {
    terminal
        .file("one.yaml", ONE.formatted("data"))
        .file("two.yaml", ONE.formatted("train"))
        .file(
            "life.yaml",
            "stages:\n  first: {config: one.yaml}\n  second: {config: two.yaml, after: [first]}\n");
    Screen made =
        terminal.type(
            "pipeline", "run", terminal.workspace.resolve("life.yaml").toString(), "--json");
    assertThat(made.exit()).as(made.err()).isZero();
    String id = made.json().text("pipeline_id");

    JsonObject document = report("--pipeline", "latest");

    assertThat(document.number("pipelines")).isEqualTo(1);
    assertThat(document.number("runs")).isEqualTo(2);
    assertThat(ids(page())).startsWith("pipeline/" + id, "pipelines", "runs").hasSize(7);
    assertThat(page().texts()).contains("first", "second");
    assertThat(report().number("pipelines")).isEqualTo(1);
  }

  @Test
  void publishingReplacesTheReportInAFolder() throws IOException {
    Path served = Files.createDirectories(folder.resolve("served"));
    Files.writeString(served.resolve("index.html"), "earlier");

    Screen screen = terminal.type("report", "--redact", "--publish", served.toString());

    Path index = served.resolve("index.html");
    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .isEqualTo(
            "wrote " + index + ": 40 runs, " + Files.size(index) + " bytes, without names\n");
    assertThat(Files.readString(index)).contains("user-1").doesNotContain("amira", "Llama");
    assertThat(served).isDirectoryContaining("glob:**/index.html");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(index)))
        .isEqualTo("rw-r--r--");

    Path named = served.resolve("team.html");
    assertThat(terminal.type("report", "--publish", named.toString()).exit()).isZero();
    assertThat(Files.readString(named)).contains("amira");
    terminal.type("report", "--month", "this", "--publish", served.toString());
    assertThat(served.resolve(YearMonth.now(ZoneOffset.UTC) + ".html")).exists();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--publish /no/such/folder|there is no folder /no/such/folder|mkdir -p /no/such/folder",
        "--publish s3:/bucket/x|expected a folder or an address in S3|--publish s3://bucket/x",
        "--publish /tmp --out x.html|both say where the report goes|leave one of them out",
        "--region eu-west-1|nothing is published there|add --publish s3://BUCKET/PREFIX",
        "--cluster other|nothing is published there|add --publish s3://BUCKET/PREFIX",
        "--publish /tmp --region eu-west-1|and /tmp is no address in S3|leave it out",
        "--publish s3://B/x|expected an address such as s3://bucket/prefix|lower-case letters",
      })
  void aPlaceThatCannotBeUsedIsRefusedWithTheNextStep(String typed, String says, String step) {
    Screen screen = terminal.type(("report " + typed).split(" "));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(says, step);
  }

  @Test
  void aReportIsAboutOneThing() {
    Screen screen = terminal.type("report", "--run", "latest", "--month", "this");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("a report is about one of --run, --pipeline and --month", "→ leave the others");
  }

  @Test
  void moreThanOneMonthIsRefused() {
    Screen screen =
        terminal.type("report", "--month", "2025-01..2025-03", "--out", file.toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("--month");
    assertThat(file).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"--run, there is no run", "--pipeline, there is no pipeline"})
  void aNameOfNothingIsRefused(String option, String says) {
    Screen screen = terminal.type("report", option, "nonsense", "--out", file.toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(says);
    assertThat(file).doesNotExist();
  }

  @Test
  void aRecordThatCannotBeReadIsNamedAndTheRestIsWritten() throws IOException {
    report();
    String id =
        ids(page()).stream().filter(one -> one.startsWith("run/")).findFirst().orElseThrow();
    String run = id.substring(4);
    Files.writeString(terminal.workspace.resolve("runs/manifests/cost_" + run + ".json"), "{");

    Screen screen = terminal.type("report", "--out", file.toString());

    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).startsWith("note: " + run + ": ");
    assertThat(ids(page())).doesNotContain(id);
    assertThat(String.join("", page().texts())).contains("Records that could not be read");
  }

  @Test
  void whatAJobPrintedIsTextOnItsPage() throws IOException {
    String hostile =
        "RuntimeError: </script><img src=x onerror=alert(1)> \u001b[31m\u202e\u2028 \"'";
    terminal.file("run.yaml", ONE.formatted("train"));
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    String run = json.text("run_id");
    String key = json.objects("jobs").get(0).text("name");
    Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + run + "/logs"));
    Files.writeString(logs.resolve("4711_0.out"), "step 1\n" + hostile + "\n");
    terminal.program("sacct", Terminal.accountingRow(4711, 0, "FAILED", key));
    terminal.type("reconcile");

    JsonObject document = report("--run", run);

    assertThat(document.number("run_pages")).isEqualTo(1);
    ScannedPage page = page();
    assertThat(page.elements().stream().map(Element::name)).doesNotContain("img", "b");
    String shown = String.join("\n", page.texts());
    assertThat(shown).contains("</script><img src=x onerror=alert(1)>", "nexa-slurm why " + run);
    assertThat(shown).doesNotContain("\u001b", "\u202e", "\u2028");
    assertThat(VisibleText.line(hostile)).contains("<U+202E>");
  }

  /** What an ML engineer looks for first, wherever a run is looked at. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLossThatIsNotANumberIsToldEverywhere(boolean all) throws IOException {
    terminal
        .file(
            "configs/clusters/default.yaml",
            "health_check: false\nstorage: {scratch: '${workspace}/s', durable: '${workspace}/d', shared:"
                + " '${workspace}/h'}\n")
        .file("one.yaml", ONE.formatted("train"));
    Screen made =
        terminal.type("submit", terminal.workspace.resolve("one.yaml").toString(), "--json");
    assertThat(made.exit()).as(made.err()).isZero();
    String id = made.json().text("run_id");
    StringBuilder history = new StringBuilder();
    for (int step = 1; step <= 60; step++) {
      history.append(step == 1 ? "" : ", ").append("{\"loss\": ");
      history.append(all || step > 30 ? "NaN" : 3.0 / step);
      history.append(", \"step\": ").append(step).append('}');
    }
    terminal.file(
        "d/checkpoints/" + id + "/trainer_state.json", "{\"log_history\": [" + history + "]}");
    String words = "not a number from step " + (all ? 1 : 31) + " on";

    Screen drawn = terminal.type("monitor", "show", id);
    assertThat(drawn.exit()).as(drawn.err()).isZero();
    assertThat(drawn.out()).contains("trainer_state.json: " + words);
    JsonObject loss = terminal.type("monitor", "show", id, "--json").json().objects("loss").get(0);
    assertThat(loss.text("not_a_number")).isEqualTo(words);
    assertThat(terminal.type("monitor", "show", id, "--csv").out()).contains(",60.0,NaN\n");
    assertThat(terminal.type("runs", "show", id).out()).contains("loss: " + words);
    report();
    assertThat(String.join("", page().texts()))
        .contains("Its loss is " + words + ".", "loss: " + words)
        .contains(all ? "No value was read." : "step 60")
        .doesNotContain("step 30");
  }
}
