package dev.nexa.slurm.command.costs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.money.summary.RunField;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What can be asked about finished runs; their ledger is written by hand. */
class CostsCommandTest {
  private static final String TRAIN =
      "'run_id': 'train_20251101_120000', 'stage': 'train', 'status': 'completed',"
          + " 'state': 'completed', 'model': 'mistral-7b', 'tags': ['train', 'project:nlp'],"
          + " 'cluster': 'default', 'user': 'ada', 'account': 'lab', 'gpu_type': 'h100',"
          + " 'currency': 'USD', 'cost': '11.09', 'wasted': '1.00', 'credit': '1.00',"
          + " 'lines': {'cpu': '0.08', 'gpu': '11.00', 'memory': '0.01'},"
          + " 'quantities': {'cpu': '2.0000', 'gpu': '2.0000', 'memory': '2.0000'},"
          + " 'reservation': '23.60', 'expected': '10.00', 'gpu_seconds': 7200,"
          + " 'gpu_seconds_wasted': 720, 'cpu_seconds': 7200, 'cpu_seconds_wasted': 720,"
          + " 'tasks': 1, 'tasks_failed': 0, 'attempts': 2, 'created': '2025-11-01T12:00:00Z',"
          + " 'started': '2025-11-01T12:10:00Z', 'ended': '2025-11-01T13:10:00Z',"
          + " 'queue_seconds': 600, 'loss': 0.5, 'price_book': 'default'";
  private static final String EVAL =
      "'run_id': 'eval_20251102_120000', 'stage': 'eval', 'status': 'failed', 'state': 'timeout',"
          + " 'model': 'a|b', 'tags': ['eval', 'say \\\"hi\\\", you'], 'user': 'bob',"
          + " 'currency': 'EUR', 'cost': '0.50', 'wasted': '0.50', 'reservation': '2.00',"
          + " 'gpu_seconds': 0, 'cpu_seconds': 3600, 'started': '2025-11-02T12:00:01Z',"
          + " 'ended': '2025-11-02T13:00:01Z'";
  private static final String OLD =
      "'run_id': 'data_20251001_120000', 'stage': 'data', 'status': 'completed',"
          + " 'state': 'completed', 'model': null, 'tags': [], 'currency': 'USD', 'cost': '0.04',"
          + " 'gpu_seconds': 0, 'cpu_seconds': 3600";

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void makeLedger() {
    terminal = new Terminal(folder);
    Lines.write(terminal.workspace, "2025-10", Lines.line(OLD));
    Lines.write(terminal.workspace, "2025-11", Lines.line(TRAIN), Lines.line(EVAL));
    terminal.file(
        "tokens.jsonl",
        "{\"run_id\":\"train_20251101_120000\",\"model\":\"org/teacher-1\",\"input_tokens\":1000000,"
            + "\"output_tokens\":250001,\"time\":\"2025-11-01T12:30:00Z\"}\n");
    terminal.file(
        "configs/prices/api.yaml",
        "currency: USD\nas_of: 2025-11-01\napi_tokens:\n  org/teacher-1:\n"
            + "    input: {price: 2.50, source: list}\n    output: {price: 10, source: list}\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "summary.txt, costs",
    "summary.csv, costs --by stage --format csv",
    "summary.md, costs --by model --format markdown",
    "summary.json, costs --by user --json",
    "tags.txt, costs --by tag",
    "focus.csv, costs --format focus",
    "accuracy.txt, costs accuracy",
    "accuracy.json, costs accuracy --json",
    "accuracy.csv, costs accuracy --format csv",
    "analysis.txt, runs analyze",
    "analysis.csv, runs analyze --format csv --by user",
    "analysis.json, runs analyze --json",
  })
  void sumsLookLikeThis(String golden, String command) {
    type("costs import usage tokens.jsonl --prices api");

    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    Golden.check("costs/" + golden, screen.out());
  }

  /** One rule: a part is 0.0265 wherever a program reads it, under the same name. */
  @ParameterizedTest
  @ValueSource(strings = {"costs", "costs accuracy", "runs analyze"})
  void columnsOfCsvAreKeysOfJson(String command) {
    String[] heads =
        type(command + " --format csv --by stage")
            .out()
            .lines()
            .findFirst()
            .orElseThrow()
            .split(",", -1);
    JsonObject group = type(command + " --json --by stage").json().objects("groups").get(0);

    List<String> keys = new ArrayList<>(group.object("key").members().keySet());
    keys.addAll(group.members().keySet());
    for (CostKind kind : CostKind.values()) {
      keys.add(kind.word());
    }
    assertThat(keys).contains(heads);
    assertThat(type(command + " --format csv").out()).doesNotContain("%");
  }

  @Test
  void aMonthIsAskedForInOneWord() {
    Screen october = type("costs --by stage --month 2025-10");
    Screen none = type("costs --month last");
    Screen both = type("costs --by stage --month 2025-11 --where currency=USD");

    assertThat(october.out())
        .isEqualTo(
            """
            STAGE  RUNS  CPU HOURS  COST
            data      1       1.00  0.04
            all       1       1.00  0.04
            2025-10, in USD
            """);
    assertThat(none.out()).startsWith("No finished run matches 'month=2");
    assertThat(none.out()).contains("month: 2025-10, 2025-11");
    assertThat(type("costs --month 2999-01").out())
        .contains("2999-01 has not begun yet: the current month is 20");
    assertThat(type("costs --month 2025-09").out()).doesNotContain("not begun");
    assertThat(both.out()).contains("train").doesNotContain("eval", "CURRENCY");
    for (String wrong : List.of("2025-13", "2025-1", "yesterday", "")) {
      Screen screen = terminal.type("costs", "--month", wrong);
      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err())
          .contains(
              "--month: expected a month such as 2025-11, this or last, or a range such as"
                  + " 2025-09..2025-11, got '"
                  + wrong);
    }
    assertThat(terminal.type("costs", "--where", "month=2025-13").exit()).isEqualTo(2);
  }

  /** Each of the two amounts is more than 0 and less than a cent. */
  @Test
  void aRunOfLessThanACentDidNotCostNothing() {
    String small =
        OLD.replace("'0.04'", "'0.00'")
            + ", 'lines': {'cpu': '0.00', 'memory': '0.00', 'storage': '0.00'},"
            + " 'quantities': {'cpu': '0.0833', 'memory': '0.0833', 'storage': '0.0000'}";
    Lines.write(terminal.workspace, "2025-10", Lines.line(small));

    assertThat(type("costs --month 2025-10").out())
        .isEqualTo(
            """
            MONTH    RUNS  CPU HOURS   COST
            2025-10     1       1.00  <0.01
            all         1       1.00  <0.01
            in USD
            """);
    assertThat(type("costs --month 2025-10 --format csv").out()).contains(",0.00,");
  }

  /** A sum is what the ledger has: COST is never above MAXIMUM, and the row adds up. */
  @Test
  void severalRunsOfLessThanACentAreASumOfZeroAndALineSaysSo() {
    String small =
        OLD.replace("'0.04'", "'0.00'")
            + ", 'lines': {'cpu': '0.00', 'memory': '0.00', 'storage': '0.00'},"
            + " 'quantities': {'cpu': '0.0833', 'memory': '0.0833', 'storage': '0.0000'}";
    Lines.write(
        terminal.workspace,
        "2025-10",
        Lines.line(small),
        Lines.line(small.replaceFirst("_\\d{6}'", "_235959'")));

    assertThat(type("costs --month 2025-10").out())
        .isEqualTo(
            """
            MONTH    RUNS  CPU HOURS  COST
            2025-10     2       2.00  0.00
            all         2       2.00  0.00
            in USD
            4 amounts of 2 runs were rounded to 0.00 USD
            """);
    assertThat(type("costs --month 2025-10 --by run").out()).contains("<0.01");
  }

  /** Each line of the run is rounded to 0: all tables say the same of it. */
  @Test
  void aRunOfLessThanACentCostsTheSameInAllTables() {
    terminal.file(
        "configs/prices/default.yaml",
        "currency: USD\nas_of: 2025-01-01\ncpu_hour: {price: 0.0001, source: s}\n"
            + "memory_gib_hour: {price: 0.0001, source: s}\nstorage_gb_month: {price: 0.0001, source: s}\n");
    String run = finishedRun().text("run_id");

    assertThat(type("costs show " + run).out()).contains("  less than 0.01 USD  ");
    assertThat(type("runs show " + run).out()).containsPattern("cost +less than 0.01 USD");
    assertThat(type("runs list").out()).contains(" <0.01 USD");
    assertThat(type("costs --by run --where stage=data").out())
        .containsPattern(run + " .* <0.01")
        .doesNotContain("<0.02");
    assertThat(type("runs list --json").out()).contains("0.00");
  }

  /** Whatever the groups are, no heading stands twice. */
  @ParameterizedTest
  @MethodSource
  void noColumnStandsTwice(String by) {
    for (String command : List.of("costs", "costs accuracy", "runs analyze")) {
      for (String format : List.of("csv", "markdown")) {
        Screen screen = type(command + " --by " + by + " --format " + format);
        assertThat(screen.exit()).as(screen.err()).isZero();
        String[] heads =
            screen
                .out()
                .lines()
                .findFirst()
                .orElseThrow()
                .split(format.equals("csv") ? "," : " \\| ", -1);
        assertThat(heads).as(command + " " + format).doesNotHaveDuplicates();
      }
    }
  }

  static List<String> noColumnStandsTwice() {
    List<String> fields = new ArrayList<>(RunField.words(true));
    fields.addAll(List.of("project,currency", "currency,month"));
    return fields;
  }

  @Test
  void markdownHasTheTotalToo() {
    assertThat(type("costs --by user --month 2025-11 --where currency=EUR --format markdown").out())
        .isEqualTo(
            """
            | USER | RUNS | FAILED | CPU HOURS | COST | WASTED | MAXIMUM | DIFFERENCE |
            |---|--:|--:|--:|--:|--:|--:|--:|
            | bob | 1 | 1 | 1.00 | 0.50 | 0.50 | 2.00 | -1.50 |
            | all | 1 | 1 | 1.00 | 0.50 | 0.50 | 2.00 | -1.50 |

            2025-11, in EUR
            """);
  }

  @Test
  void onlyTheRunsThatAreMeantAreSummed() {
    JsonObject json = terminal.type("costs", "--where", "cost>1 ended>=2025-11", "--json").json();

    assertThat(json.objects("totals")).hasSize(1);
    assertThat(json.objects("totals").get(0).number("runs")).isEqualTo(1);
    assertThat(json.objects("totals").get(0).text("cost")).isEqualTo("11.09");
  }

  @Test
  void aDamagedLineIsToldOnStderrAndInTheDocument() throws IOException {
    Path ledger = terminal.workspace.resolve("runs/ledger-2025-11.jsonl");
    Files.writeString(ledger, Files.readString(ledger).replace("11.09", "11.08"));

    Screen screen = terminal.type("costs", "--json");

    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).contains("ledger-2025-11.jsonl:1: this line is damaged");
    assertThat(screen.json().texts("problems")).hasSize(1);
    assertThat(screen.json().objects("totals")).hasSize(2);
  }

  @Test
  void billsAndTokensAreImportedOnceAndStandBesideTheCost() {
    terminal.file(
        "bill.csv",
        "Run,Cost,Day\ntrain_20251101_120000,10.999,2025-11-01\nnobody,3.00,2025-11-01\n");
    String bill =
        "costs import csv bill.csv --provider acme --currency USD --map run=Run --map amount=Cost"
            + " --map start=Day";
    assertThat(type(bill).out())
        .startsWith("2 rows: 2 new, 0 changed, 0 removed; 1 row belongs to no run\n13.999 USD\n");
    assertThat(type(bill).out()).startsWith("2 rows: 0 new, 0 changed, 0 removed");
    assertThat(type("costs import usage tokens.jsonl --prices api --json").json().number("added"))
        .isEqualTo(2);

    Screen screen = terminal.type("costs", "--by", "project", "--json");

    JsonObject group =
        screen.json().objects("groups").stream()
            .filter(one -> one.object("key").text("project").equals("nlp"))
            .findFirst()
            .orElseThrow();
    assertThat(group.text("cost")).isEqualTo("11.09");
    assertThat(group.text("billed")).isEqualTo("11.00");
    // 1 x 2.50 and 0.250001 x 10
    assertThat(group.text("api")).isEqualTo("5.00");
    assertThat(group.text("total")).isEqualTo("15.09");
    assertThat(screen.json().objects("unmatched_bills").get(0).text("amount")).isEqualTo("3.00");
    assertThat(screen.err())
        .contains("note: 3.00 USD of the imported bills of all months belong to no finished run");
    assertThat(type("costs --month 2025-11").err())
        .contains("3.00 USD of the imported bills of 2025-11");
    assertThat(type("costs --month 2025-10").err()).doesNotContain("belong to no finished run");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          PK\\3\\4                   | bill.csv is an Excel file or a zip archive; expected CSV
          a\\0b                      | bill.csv is not a text file; expected CSV
          \\4                        | bill.csv has no rows; nothing was imported
          Run,Cost,Day               | bill.csv has no rows; nothing was imported
          """)
  void aFileWithoutRowsIsNoSuccess(String text, String said) {
    terminal.file("bill.csv", text.replace("\\3", "\3").replace("\\4", "\4").replace("\\0", "\0"));

    Screen screen =
        type(
            "costs import csv bill.csv --provider x --currency USD --map amount=Cost --map start=Day");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(said);
  }

  @Test
  void anImportWithoutRunsNamesTheColumnThatWasLookedFor() {
    terminal.file("bill.csv", "Cost,Day\n1,2025-11-01\n");

    Screen screen =
        type(
            "costs import csv bill.csv --provider x --currency USD --map amount=Cost --map start=Day");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out())
        .startsWith("1 row: 1 new, 0 changed, 0 removed; 1 row belongs to no run");
    assertThat(screen.err())
        .contains("note: no row has a run's id in the column 'run_id'", "--map run=COLUMN");
  }

  @Test
  void aTeacherWithoutAPriceIsNotFree() {
    terminal.file(
        "configs/prices/api.yaml",
        "currency: USD\nas_of: 2025-11-01\napi_tokens:\n  org/teacher-2:\n"
            + "    input: {price: 2.50, source: list}\n    output: {price: 10, source: list}\n");

    Screen screen = type("costs import usage tokens.jsonl --prices api");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains(
            "tokens.jsonl:1: model: price book 'api' has no api_tokens of 'org/teacher-1'"
                + "; it has org/teacher-2");
    assertThat(terminal.workspace.resolve("runs/bills/api/2025-11.jsonl")).doesNotExist();
  }

  @Test
  void budgetsAreThePolicys() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: project, name: nlp, amount: 20, currency: USD, period: month}\n"
            + "  - {scope: all, amount: 1, currency: USD, period: quarter}\n");
    type("costs import usage tokens.jsonl --prices api");

    Screen screen = type("costs budget --on 2025-11-30");

    assertThat(screen.out())
        .isEqualTo(
            """
            SCOPE    NAME  PERIOD   BUDGET  SPENT  REMAINING      USED  STATE     IN OTHER CURRENCIES
            project  nlp   2025-11   20.00  15.09       4.91    75.4 %  ok                          0
            all      -     2025-Q4    1.00  15.13     -14.13  1513.0 %  exceeded                    1
            in USD
            SPENT is up to date: all runs of this workspace are settled.
            """);
    assertThat(type("costs budget --month 2025-11").out()).isEqualTo(screen.out());
    JsonObject json = type("costs budget --on 2025-11-30 --json").json();
    assertThat(json.objects("budgets").get(0).text("remaining")).isEqualTo("4.91");
    assertThat(json.objects("budgets").get(0).decimal("used_ratio")).isEqualByComparingTo("0.7545");
  }

  @Test
  void budgetsAreARowEachInCsv() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: project, name: nlp, amount: 12, currency: USD, period: month}\n");

    assertThat(type("costs budget --on 2025-11-30 --format csv").out())
        .isEqualTo(
            """
            scope,name,period,currency,budget,spent,reserved,remaining,used_ratio,state,runs,runs_of_other_currencies,forecast,used_up_on
            project,nlp,2025-11,USD,12.00,10.09,0.00,1.91,0.8408,warning,1,0,10.09,
            """);
  }

  @Test
  void aBudgetIsUsedUpDayByDay() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: project, name: nlp, amount: 10, currency: USD, period: month}\n"
            + "  - {scope: all, amount: 1000000, currency: USD, period: year}\n");

    Screen days = type("costs budget --days --on 2025-11-30 --format csv");
    JsonObject json = type("costs budget --days --on 2025-11-30 --json").json();
    JsonObject now = type("costs budget --json").json();

    assertThat(days.out().lines()).hasSize(1 + 30 + 365);
    assertThat(days.out())
        .contains("project,nlp,2025-11-30,USD,0.00,10.09,-0.09,0.00\n")
        .contains("all,,2025-12-31,USD,0.00,10.13,999989.87,0.00\n");
    assertThat(json.objects("days")).hasSize(30 + 365);
    assertThat(json.objects("budgets").get(0).text("used_up_on")).startsWith("2025-11-");
    assertThat(json.text("forecast_method")).isEqualTo("linear");
    assertThat(now.members()).doesNotContainKey("days");
    assertThat(type("costs budget --on 2999-01").out()).doesNotContain("USED UP  ");
    assertThat(type("costs budget").out()).as("nothing is spent now").doesNotContain("FORECAST");
  }

  @Test
  void spentSaysHowOldItIsAndWhatMakesItNew() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: all, amount: 20, currency: USD, period: year}\n");
    finishedRun();
    terminal.type("submit", "run.yaml");

    Screen screen = type("costs budget");

    assertThat(screen.out())
        .containsPattern(
            "SPENT is as of 20\\S+Z \\([^)]+\\): 1 run is not settled\\. `nexa-slurm reconcile` brings it");
    assertThat(type("costs budget --json").json().number("unsettled_runs")).isEqualTo(1);
  }

  /** The sums count every group, also those that are not shown. */
  @Test
  void theDearestGroupsComeFirstAndTheRestIsCounted() {
    Lines.write(
        terminal.workspace,
        "2025-11",
        Lines.line(
            OLD.replace("data_20251001_120000", "data_20251102_130000")
                .replace("'tags': []", "'tags': ['experiment:sweep']")));

    assertThat(
            type("costs --by run --month 2025-11 --where currency=USD --sort cost --limit 1").out())
        .isEqualTo(
            """
            RUN                    RUNS  GPU HOURS   COST  WASTED  CREDIT  TOTAL  MAXIMUM  DIFFERENCE
            train_20251101_120000     1       2.00  11.09    1.00    1.00  10.09    23.60      -12.51
            all                       2       2.00  11.13    1.00    1.00  10.13    23.60      -12.51
            2025-11, in USD
            1 more group is not shown, because of --limit; the row `all` counts all groups
            """);
    assertThat(type("costs --by run --sort cpu_hours --limit 1 --format csv").out().lines())
        .as("one of each currency")
        .hasSize(3);
    assertThat(type("costs --by run --where stage=data --sort run").out()).contains("sweep");
  }

  @Test
  void aTerminalOf80ColumnsGetsTablesThatFit() {
    Lines.write(
        terminal.workspace,
        "2025-11",
        Lines.line(
            TRAIN
                .replace("train_20251101_120000", "train_20251103_120000")
                .replace("mistral-7b", "a model with a very long name indeed")
                .replace("11.09", "1234567890.12")));
    terminal.with("COLUMNS", "80");
    for (String command :
        List.of("costs", "costs --by project,user,model", "costs accuracy", "costs --by run")) {
      String screen = terminal.atScreen(command.split(" ", -1));

      assertThat(screen.lines()).as(screen).allMatch(line -> line.length() <= 80);
      assertThat(screen).containsPattern("1234567\\d{3}\\.\\d\\d");
    }
  }

  @Test
  void withoutBudgetsItSaysWhereTheyAreWritten() {
    assertThat(type("costs budget").out()).contains("configs/policy.yaml");
  }

  /** A run that is over, by Slurm's own rows: two CPU-hours in two tasks. */
  @Test
  void aRunsCostIsShownAttemptByAttempt() {
    JsonObject submitted = finishedRun();
    String run = submitted.text("run_id");

    Screen screen = terminal.type("costs", "show", "latest");

    assertThat(screen.out())
        .isEqualTo(
            """
            TASK  ATTEMPT  JOB ID  STATE       ELAPSED  NODES      COST
            0           1  4712    COMPLETED  01:00:00  n1     0.045000
            1           1  4713    FAILED     01:00:00  n1     0.045000

            TASK  ATTEMPTS      COST
            0            1  0.045000
            1            1  0.045000

            WHAT    QUANTITY  UNIT      PRICE  COST
            cpu            2  cpu_hour   0.04  0.08
            memory         2  gib_hour  0.005  0.01

            the run RUN  0.09 USD  (the sum of the priced lines; each line is rounded once, attempts are not)
            """
                .replace("RUN", run));
    JsonObject json = terminal.type("costs", "show", run, "--json").json();
    assertThat(json.text("cost")).isEqualTo("0.09");
    assertThat(json.objects("attempts")).hasSize(2);
    assertThat(terminal.type("costs", "show", "4711_1", "--json").json().objects("attempts"))
        .hasSize(1);
    assertThat(terminal.type("costs", "show", "4711_1").out())
        .doesNotContain("4712")
        .contains(
            "1            1  0.045000\n\n", "the run " + run + ", all of its tasks  0.09 USD");
    assertThat(json.flag("settled")).isTrue();
    assertThat(json.objects("lines").get(0).text("what")).isEqualTo("cpu");
  }

  /** Nobody must book a cost of zero for a run that runs. */
  @Test
  void theCostOfARunThatIsNotSettledIsNotZero() {
    finishedRun();
    String open = terminal.type("submit", "run.yaml", "--json").json().text("run_id");

    Screen show = terminal.type("costs", "show", open);

    assertThat(show.out())
        .contains(open + " is not settled", "nexa-slurm status " + open)
        .doesNotContain("0.00");
    assertThat(terminal.type("costs", "show", open, "--json").json().flag("settled")).isFalse();
    assertThat(terminal.type("costs").err())
        .contains("note: not included: 1 run that is not settled");
  }

  @Test
  void aBrokenRecordIsNamedWithWhatMendsIt() throws IOException {
    String run = finishedRun().text("run_id");
    Path manifests = terminal.workspace.resolve("runs/manifests");
    Path cost = manifests.resolve("cost_" + run + ".json");
    String kept = Files.readString(cost);
    for (String broken : List.of(kept.substring(0, 200), kept.replace("\"total\"", "\"totl\""))) {
      Files.writeString(cost, broken);
      for (String command : List.of("costs show ", "runs show ")) {
        Screen screen = type(command + run);

        assertThat(screen.exit()).isEqualTo(1);
        assertThat(screen.err())
            .contains("cost_" + run + ".json is broken: ", "nexa-slurm audit --repair")
            .doesNotContain("defect");
      }
    }
    for (String broken : List.of("{", "{}", kept.replace("\"total\"", "\"totl\""))) {
      Files.writeString(cost, broken);
      type("audit --repair");
      assertThat(cost).hasContent(kept);
    }

    Files.writeString(manifests.resolve(run + ".json"), "{");
    Screen list = type("runs list");
    assertThat(list.exit()).isZero();
    assertThat(list.err()).contains(run + ".json is broken: ");
  }

  @Test
  void whatReconcileWritesIntoTheLedgerIsWhatIsSummed() {
    finishedRun();

    JsonObject json =
        terminal.type("costs", "--where", "stage=data user=ada account=nlp", "--json").json();

    JsonObject total = json.objects("totals").get(0);
    assertThat(total.number("runs")).isEqualTo(1);
    assertThat(total.number("runs_failed")).isEqualTo(1);
    assertThat(total.text("cost")).isEqualTo("0.09");
    assertThat(total.text("wasted")).isEqualTo("0.04");
    assertThat(total.text("cpu_hours")).isEqualTo("2.0000");
    assertThat(total.object("breakdown"))
        .hasToString("{\"cpu\":\"0.08\",\"memory\":\"0.01\",\"storage\":\"0.00\"}");
  }

  /** There are runs: what was asked for is what none of them has. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          costs          | month=2024-01      | No finished run matches 'month=2024-01': there are 3 finished runs. | month: 2025-10, 2025-11
          costs          | user=eve cost>1000 | No finished run matches 'user=eve cost>1000': there are 3           | user: no run has 'eve'; there are ada, bob; some runs have none: user=-
          costs          | user=eve cost>1000 | there are 3 finished runs.                                          | cost: 0.04 to 11.09
          costs accuracy | model=gpt          | No completed run matches 'model=gpt': there are 2 completed runs.   | model: no run has 'gpt'; there is mistral-7b
          runs analyze   | run_time>9h        | No finished run matches 'run_time>9h': there are 3                  | run_time: 3600 to 3600 seconds
          costs          | method=analytic    | No finished run matches                                             | method: no run has one
          costs          | ended<2020-01      | No finished run matches                                             | ended: 2025-11-01T13:10:00Z to 2025-11-02T13:00:01Z
          """)
  void whereNoneMatchesItSaysWhatThereIs(String command, String where, String said, String values) {
    List<String> words = new ArrayList<>(List.of(command.split(" ", -1)));
    words.addAll(List.of("--where", where));

    Screen screen = terminal.type(words.toArray(new String[0]));

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains(said, values).doesNotContain("reconcile");
  }

  @Test
  void aListOfRunsWithoutAMatchSaysWhatThereIsToo() {
    finishedRun();
    terminal.type("submit", "run.yaml");

    assertThat(terminal.type("runs", "list", "--where", "status=completed user=eve").out())
        .startsWith("No run matches 'status=completed user=eve': there are ")
        .contains(
            "  status: completed, failed, running\n",
            "  user: no run has 'eve'; there are ada, bob");
  }

  @Test
  void runsAreListedByWhatTheyAreFinishedOrNot() {
    JsonObject finished = finishedRun();
    String open = terminal.type("submit", "run.yaml", "--json").json().text("run_id");

    assertThat(listed("stage=data")).containsExactly(open, finished.text("run_id"));
    assertThat(listed("status=failed")).containsExactly(finished.text("run_id"));
    assertThat(listed("status=running")).containsExactly(open);
    assertThat(listed("tag=backend:shell created>=1h")).hasSize(2);
    assertThat(listed("cost>0.08")).containsExactly(finished.text("run_id"));
    assertThat(listed("stage=train")).isEmpty();
    Screen wrong = terminal.type("runs", "list", "--where", "stauts=x");
    assertThat(wrong.exit()).isEqualTo(2);
    assertThat(wrong.err()).contains("term 1 'stauts=x', at character 1", "did you mean 'status'?");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          costs --by modle             | did you mean 'model'
          costs --by cost              | --by: 'cost' is a number and makes no groups; --sort sorts by it
          costs --by team              | (did you mean tag:team, project or account?)
          costs --by gpu               | (did you mean gpu_type?)
          costs --by week              | (did you mean month, or ended, such as ended>=7d?)
          costs --where total>100      | unknown name 'total' (did you mean cost?)
          runs list --where name=a     | unknown name 'name' (did you mean experiment?)
          usage --month last           | --month: type --since 2025-11-01, with your date
          cron uninstall               | Did you mean: nexa-slurm cron remove
          approvals delete             | Did you mean: nexa-slurm approvals revoke
          policy check                 | Did you mean: nexa-slurm policy show
          status -u ada                | nexa-slurm runs list --where user=ada
          train.py                     | To start it: nexa-slurm submit train.py
          explain budget               | (did you mean 'docs/budgets.md'?)
          costs --format cvs           | did you mean 'csv'
          costs --format csv --json    | --json and --format csv ask for two formats
          costs budget --json --format csv | --json and --format csv ask for two formats
          costs accuracy --json --format markdown | ask for two formats
          runs analyze --json --format csv | ask for two formats
          costs --format focus --limit 2 | takes no --sort and no --limit
          costs --by ,user             | --by: a name is empty; expected names with single commas
          costs --month 2025/11        | got '2025/11' (did you mean '2025-11'?)
          costs --month 11.2025        | (did you mean '2025-11'?)
          costs --month 2025-14        | months are 01 to 12
          costs --month 2025           | for several months: 2025-01..2025-12
          costs --month Q3             | for a quarter: YEAR-07..YEAR-09, with your year
          costs --month 2025-11..2025-10 | did you mean '2025-10..2025-11'?
          costs --where status:failed  | write status=failed
          costs --where cost>1,000USD  | write 1000, without a currency, a unit or separators
          costs --where cost=>10       | the operators are =, !=, <, <=, > and >=
          costs --top 3                | Did you mean: --limit
          costs project                | To group by it: nexa-slurm costs --by project
          costs project                | --by project,user
          costs export                 | nexa-slurm costs --month last --format csv > FILE
          costs last                   | nexa-slurm costs --month last
          costs 2025-11                | nexa-slurm costs --month 2025-11
          costs by project             | To group: nexa-slurm costs --by project,user
          costs estimates              | nexa-slurm costs accuracy
          costs bills                  | nexa-slurm costs import csv FILE --provider NAME
          costs --month last month     | Leave it out: --month last
          costs --where project = nlp  | Write the expression without spaces: --where project=nlp
          costs --where project in (a,b) | Write the expression without spaces: --where project=a
          costs --since 2025-10-01 --until 2025-11-01 | type one --where 'ended>=2025-10-01 ended<2025-11-01'
          costs --from=2025-10-01 --where user=ada | type one --where 'user=ada ended>=2025-10-01'
          costs --year 2025            | --where 'month>=2025-01 month<=2025-12'
          costs --quarter last         | --where 'month>=2025-10 month<=2025-12'
          costs --total                | --total: leave it out: the row `all` is the sum
          costs --budget               | --budget: type nexa-slurm costs budget
          costs --timezone UTC         | days and months are in UTC
          costs --chart                | type --format csv > FILE
          costs --currency EUR         | --where currency=VALUE; it selects runs and converts nothing
          costs budget --set 5         | the admin writes them into configs/policy.yaml
          costs budget add             | the admin writes them into configs/policy.yaml
          costs budget --project nlp   | the command shows all budgets
          costs import bill.csv        | Name the kind of bill: nexa-slurm costs import csv bill.csv --provider NAME
          costs --where cost>1 --where user=ada | Write all terms into one: --where
          costs --format csv --format json | --format is given more than once; expected it once [option-invalid]
          prices list                  | Did you mean: nexa-slurm prices show
          budget                       | nexa-slurm costs budget
          prices import aws .          | . is a folder; expected a file
          costs import csv tokens.jsonl | --provider NAME is missing: it names the provider of the bill
          costs --limit 0              | --limit: expected a number of groups from 1 on, got '0'
          costs --sort csot            | --sort: unknown column 'csot' (did you mean 'cost'?)
          costs budget --on soon       | --on
          costs import                 | costs import csv
          costs import csv tokens.jsonl | --provider
          costs import csv none.csv --provider x | there is no file none.csv
          costs import gcp none.csv --provider api | 'api' is where tokens are kept
          costs show                   | RUN
          runs analyze --by zzz        | one of run, stage
          """)
  void aSlipIsAnswered(String command, String said) {
    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(said);
  }

  @Test
  void withoutFinishedRunsItSaysSo() {
    Terminal empty = new Terminal(folder.resolve("empty"));

    assertThat(empty.type("costs").out()).startsWith("No run has ended in ");
    assertThat(empty.type("runs", "analyze").out()).startsWith("No run is settled yet.");
    assertThat(empty.type("costs", "accuracy").out()).startsWith("No completed runs.");
    assertThat(empty.type("costs", "--json").json().objects("groups")).isEmpty();
  }

  /** What the rerun of one task can cost, and not what two could. */
  @Test
  void ofARunThatRunsAgainInPartABudgetHoldsOnlyThat() {
    finishedRun();
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: all, amount: 20, currency: USD, period: year}\n");
    JsonObject again = type("rerun latest --failed --json").json();
    String reserved = again.object("estimate").object("reservation").text("total");

    JsonObject budget = type("costs budget --json").json().objects("budgets").get(0);

    assertThat(new BigDecimal(reserved)).isPositive();
    assertThat(budget.text("reserved")).isEqualTo(reserved);
    assertThat(budget.text("spent")).isEqualTo("0.09");
  }

  private JsonObject finishedRun() {
    terminal
        .withSlurm()
        .with("NEXA_DURABLE", terminal.workspace.toString())
        .file(
            "run.yaml",
            "stage: data\nbackend: shell\nrun: echo\narray: {shards: 2}\n"
                + "resources: {time: 10m, memory: 1G}\n");
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    String key = json.objects("jobs").get(0).text("name");
    terminal.program(
        "sacct",
        Terminal.accountingRow(4711, 0, "COMPLETED", key)
            + "\n"
            + Terminal.accountingRow(4711, 1, "FAILED", key));
    assertThat(terminal.type("reconcile").exit()).isZero();
    return json;
  }

  private List<String> listed(String where) {
    return terminal.type("runs", "list", "--where", where, "--json").json().objects("runs").stream()
        .map(run -> run.text("run_id"))
        .toList();
  }

  /** Names of files are the workspace's. */
  private Screen type(String command) {
    return terminal.type(
        command
            .replace("tokens.jsonl", terminal.workspace.resolve("tokens.jsonl").toString())
            .replace("bill.csv", terminal.workspace.resolve("bill.csv").toString())
            .split(" ", -1));
  }
}
