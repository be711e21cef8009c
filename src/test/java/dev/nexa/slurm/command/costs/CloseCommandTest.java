package dev.nexa.slurm.command.costs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.money.closing.Capacity;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements;
import dev.nexa.slurm.money.closing.VerifyMonths;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.RevokedKeys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Months are closed with a real key; their ledger and cost files are written by hand. */
class CloseCommandTest {
  private static final YearMonth OCTOBER = YearMonth.of(2025, 10);
  private static final YearMonth NOVEMBER = YearMonth.of(2025, 11);
  private static final String TRAIN = "train_20251001_120000";
  private static final String EVAL = "eval_20251002_120000";

  @TempDir Path folder;
  private Path finance;
  private Path mallory;
  private Terminal terminal;

  @BeforeEach
  void site() throws IOException {
    finance = Keys.make(folder, "finance");
    mallory = Keys.make(folder, "mallory");
    Files.writeString(
        folder.resolve("allowed_signers"),
        "fay@site namespaces=\"nexa-slurm-statement\" "
            + Keys.line(finance)
            + "\nmallory@site namespaces=\"nexa-slurm,nexa-slurm-release\" "
            + Keys.line(mallory)
            + "\n");
    terminal = new Terminal(folder);
    terminal.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1.00, currency: USD}\napprovals:\n  directory: approvals\n"
            + "  allowed_signers: "
            + folder.resolve("allowed_signers")
            + "\nbudgets:\n"
            + "  - {scope: project, name: nlp, amount: 20, currency: USD, period: month}\n"
            + "  - {scope: all, amount: 50, currency: EUR, period: quarter}\n");
    terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: /scratch, durable: /durable, shared: /shared}\npartitions:\n"
            + "  gpu: {gpu_type: h100, gpus_per_node: 4, cpus_per_node: 8, memory_per_node: 64G,"
            + " max_nodes: 2}\n"
            + "  night: {gpu_type: h100, gpus_per_node: 4, cpus_per_node: 8, memory_per_node: 64G,"
            + " max_nodes: 1}\n");
    run(TRAIN, 1, "2025-10", "nlp", "USD", "11.00", "1.00", 7200);
    run(EVAL, 1, "2025-10", "vision", "EUR", "0.50", "0.00", 0);
  }

  private void run(
      String id,
      int version,
      String month,
      String project,
      String currency,
      String cost,
      String credit,
      long gpuSeconds) {
    Lines.write(
        terminal.workspace,
        month,
        Lines.line(
            String.format(
                "'run_id': '%s', 'version': %d, 'status': 'completed', 'state': 'completed',"
                    + " 'tags': ['project:%s'], 'cluster': 'default', 'user': 'ada', 'account':"
                    + " 'lab', 'gpu_type': 'h100', 'currency': '%s', 'cost': '%s', 'credit':"
                    + " '%s', 'lines': {'gpu': '%s'}, 'gpu_seconds': %d, 'ended':"
                    + " '%s-03T13:10:00Z'",
                id, version, project, currency, cost, credit, cost, gpuSeconds, month)));
    Path current = terminal.workspace.resolve("runs/manifests/cost_" + id + ".json");
    try {
      if (Files.exists(current)) {
        Files.move(current, current.resolveSibling("cost_" + id + ".v" + (version - 1) + ".json"));
      }
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
    terminal.file(
        "runs/manifests/cost_" + id + ".json",
        String.format(
            "{\n  \"run_id\": \"%s\",\n  \"total\": %s,\n  \"version\": %d,\n  \"currency\":"
                + " \"%s\",\n  \"status\": \"completed\"\n}\n",
            id, cost, version, currency));
  }

  private Screen close(String month, String... more) {
    String[] words = new String[6 + more.length];
    System.arraycopy(
        new String[] {"costs", "close", month, "--yes", "--key", "" + finance}, 0, words, 0, 6);
    System.arraycopy(more, 0, words, 6, more.length);
    return terminal.type(words);
  }

  private Path statement(YearMonth month) {
    return terminal.workspace.resolve("runs/statements/" + month + ".json");
  }

  private Statement read(YearMonth month) throws IOException {
    return Statement.parse(Files.readString(statement(month)), "" + month);
  }

  @Test
  void aMonthIsClosedWithASignedStatement() throws IOException {
    Screen dry = terminal.type("costs", "close", "2025-10", "--dry-run");
    Screen screen = close("2025-10");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(dry.out()).contains("nothing was signed");
    assertThat(screen.out())
        .isEqualTo(
            dry.out().replace("nothing was signed\n", "")
                + screen
                    .out()
                    .substring(screen.out().indexOf("2025-10 is closed by fay@site at ")));
    assertThat(screen.out())
        .startsWith(
            """
            Total
            CURRENCY  RUNS   COST  CREDIT  TOTAL
            EUR          1   0.50    0.00   0.50
            USD          1  11.00    1.00  10.00

            By project
            PROJECT  CURRENCY  RUNS   COST  CREDIT  TOTAL
            vision   EUR          1   0.50    0.00   0.50
            nlp      USD          1  11.00    1.00  10.00
            """)
        .contains(
            """
            Budgets
            SCOPE    NAME  PERIOD   CURRENCY  BUDGET  SPENT IN MONTH
            project  nlp   month    USD        20.00           10.00
            all      -     quarter  EUR        50.00            0.50

            GPUs that nobody used
            CLUSTER  GPU TYPE  GPUS  CAPACITY GPU HOURS  USED GPU HOURS  UNUSED GPU HOURS  CURRENCY  GPU HOUR  UNUSED COST
            default  h100         8             5952.00            2.00           5950.00  USD       5.500000     32725.00
            """);
    assertThat(statement(OCTOBER)).exists();
    String text = Files.readString(statement(OCTOBER));
    assertThat(screen.out()).contains("SHA-256 " + Sha256.of(text));
    assertThat(SchemaCheck.published("statement", text)).isEmpty();
    assertThat(
            SchemaCheck.published(
                "statement-signature",
                Files.readString(statement(OCTOBER).resolveSibling("2025-10.signature.json"))))
        .isEmpty();

    Screen again = close("2025-10");
    assertThat(again.exit()).isZero();
    assertThat(again.out()).startsWith("2025-10 was closed by fay@site at ");
    assertThat(Files.readString(statement(OCTOBER))).isEqualTo(text);
    Screen verify = terminal.type("costs", "close", "--verify");
    assertThat(verify.out())
        .isEqualTo(
            "1 month: each statement, signature, cost file and ledger line is as it was signed\n");
    assertThat(terminal.type("costs", "close", "--list").out()).contains("0.50 EUR, 10.00 USD");
    assertThat(terminal.type("costs", "statement", "--json").out()).isEqualTo(text);
    assertThat(terminal.type("costs", "statement", "2025-10", "--by", "project").out())
        .contains("nlp      USD");
    assertThat(terminal.type("costs", "statement", "2025-10", "--format", "csv").out().lines())
        .hasSize(3);
    assertThat(terminal.type("costs", "statement", "--format", "markdown").out())
        .startsWith("# Statement of 2025-10\n\n## Total\n\n| CURRENCY |");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "close 2999-01 --key K | 2 | 2999-01 is not over",
        "close this --key K | 2 | is not over",
        "close | 2 | expected the month to close",
        "close November | 2 | expected a month such as 2025-11, or last, got 'November'",
        "close 2025-10 --list --verify | 2 | --list and --verify are two commands",
        "close 2025-10 --key M | 3 | this signature would not count",
        "statement | 2 | no month is closed",
        "statement 2025-10 | 2 | 2025-10 is not closed",
        "statement --by projet | 2 | did you mean 'project'",
      })
  void whatCannotBeClosedIsRefused(String typed, int exit, String message) {
    String words = typed.replace("K", "" + finance).replace("--key M", "--key " + mallory);

    Screen screen = terminal.type(("costs " + words).split(" ", -1));

    assertThat(screen.err()).contains(message);
    assertThat(screen.exit()).isEqualTo(exit);
    assertThat(statement(OCTOBER)).doesNotExist();
  }

  @Test
  void monthsAreClosedInTheirOrder() {
    assertThat(close("2025-10").exit()).isZero();

    assertThat(close("2025-12").err())
        .contains("2025-12 cannot be closed before 2025-11", "nexa-slurm costs close 2025-11");
    assertThat(close("2025-09").err()).contains("the first month that was closed is 2025-10");
    assertThat(close("2025-11").exit()).isZero();
    assertThat(close("2025-12").exit()).isZero();
    assertThat(terminal.type("costs", "close", "--verify").out()).startsWith("3 months: ");
  }

  @Test
  void correctionsAreAdjustmentsOfTheNextMonth() throws IOException {
    close("2025-10");
    byte[] october = Files.readAllBytes(statement(OCTOBER));
    run(TRAIN, 2, "2025-10", "nlp", "USD", "12.50", "0.00", 7200);
    run("late_20251031_235959", 1, "2025-10", "nlp", "USD", "3.00", "0.00", 0);
    run("train_20251104_000000", 1, "2025-11", "nlp", "USD", "4.00", "0.00", 3600);
    Path bill = folder.resolve("bill.csv");
    Files.writeString(bill, "run,start,amount\n" + EVAL + ",2025-10-02,0.70\n");
    Screen imported =
        terminal.type(
            ("costs import csv "
                    + bill
                    + " --provider gcp --currency EUR --map amount=amount --map start=start"
                    + " --map run=run")
                .split(" ", -1));
    assertThat(imported.exit()).as(imported.err()).isZero();

    Screen screen = close("2025-11");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .contains(
            """
            Adjustments of closed months
            RUN ID                 REASON   MONTH    VERSION  PROJECT  USER  ACCOUNT  CURRENCY  TOTAL  BILLED
            eval_20251002_120000   changed  2025-10        1  vision   ada   lab      EUR        0.00    0.70
            late_20251031_235959   late     2025-10        1  nlp      ada   lab      USD        3.00    0.00
            train_20251001_120000  changed  2025-10        2  nlp      ada   lab      USD        2.50    0.00
            """);
    Statement november = read(NOVEMBER);
    assertThat(november.totals().get(1).amounts().total()).isEqualTo("9.50");
    assertThat(november.totals().get(1).adjusted()).isEqualTo("5.50");
    assertThat(november.previous()).contains(Sha256.of(october));
    assertThat(Files.readAllBytes(statement(OCTOBER))).isEqualTo(october);
    assertThat(terminal.type("costs", "close", "--verify").out()).startsWith("2 months: ");
    assertThat(close("2025-12").exit()).isZero();
    assertThat(read(YearMonth.of(2025, 12)).postings()).isEmpty();
  }

  /** All statements together hold each GPU-hour once: a late run's in the month that books it. */
  @Test
  void theGpuHoursOfALateRunAreUsedOnce() throws IOException {
    close("2025-10");
    run("late_20251031_235959", 1, "2025-10", "nlp", "USD", "8.25", "0.00", 5400);
    run(TRAIN, 2, "2025-10", "nlp", "USD", "12.50", "0.00", 7200);
    run("train_20251104_000000", 1, "2025-11", "nlp", "USD", "5.50", "0.00", 3600);

    assertThat(close("2025-11").exit()).isZero();

    Statement november = read(NOVEMBER);
    assertThat(read(OCTOBER).idle())
        .singleElement()
        .returns(new BigDecimal("2.00"), Capacity::used);
    assertThat(november.idle()).singleElement().returns(new BigDecimal("2.50"), Capacity::used);
    assertThat(november.adjustments())
        .filteredOn(late -> late.runId().startsWith("late"))
        .singleElement()
        .satisfies(
            late -> {
              assertThat(late.held().gpuSeconds()).isEqualTo(5400);
              assertThat(late.held().gpuType()).contains("h100");
              assertThat(late.held().cluster()).contains("default");
            });
    assertThat(Files.readString(statement(NOVEMBER))).isEqualTo(november.text());
    assertThat(terminal.type("costs", "close", "--verify").out()).startsWith("2 months: ");
  }

  /** A run that ends between the reading of the ledger and the signature is not lost. */
  @Test
  void aRunThatEndsMeanwhileBecomesAnAdjustment() throws IOException {
    terminal.program(
        "ssh-keygen",
        "case \"$*\" in *sign*) /bin/cat "
            + folder.resolve("meanwhile")
            + " >>"
            + terminal.workspace.resolve("runs/ledger-2025-10.jsonl")
            + " ;; esac; exec /usr/bin/ssh-keygen \"$@\"");
    Path aside = Files.createDirectories(folder.resolve("aside"));
    Lines.write(
        aside,
        "2025-10",
        Lines.line(
            "'run_id': 'mid_20251015_000000', 'version': 1, 'status': 'completed', 'currency':"
                + " 'USD', 'cost': '7.00', 'ended': '2025-10-31T23:59:59Z'"));
    Files.copy(aside.resolve("runs/ledger-2025-10.jsonl"), folder.resolve("meanwhile"));

    Screen october = close("2025-10");
    Files.writeString(folder.resolve("meanwhile"), "");
    Screen november = close("2025-11");

    assertThat(october.exit()).as(october.err()).isZero();
    assertThat(Files.readString(terminal.workspace.resolve("runs/ledger-2025-10.jsonl")))
        .contains("mid_20251015_000000");
    assertThat(november.exit()).as(november.err()).isZero();
    assertThat(Files.readString(statement(OCTOBER))).doesNotContain("mid_20251015_000000");
    assertThat(read(NOVEMBER).adjustments()).hasSize(1);
    assertThat(november.out()).contains("mid_20251015_000000: its cost file is not there");
  }

  @Test
  void anUnfinishedRunNeedsAPassAfterTheMonthAndIsNamed() throws IOException {
    terminal.file("runs/open/long_20251020_000000", "");

    Screen refused = close("2025-10");
    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err())
        .contains("1 run is not settled, and no pass has looked at it since 2025-10 ended")
        .contains("nexa-slurm reconcile", "[month-not-closable]");

    terminal.file("runs/open/new_20251120_000000", "");
    Instant behind = Instant.parse("2025-10-31T23:59:59Z");
    pass(Optional.of(behind));
    assertThat(close("2025-10").err()).contains("no pass has looked at it since 2025-10 ended");
    pass(Optional.empty());
    Screen closed = close("2025-10");
    assertThat(closed.exit()).as(closed.err()).isZero();
    assertThat(closed.out())
        .contains("long_20251020_000000 is unfinished: it counts in the month in which it ends")
        .doesNotContain("new_2025");
  }

  /** Writes down a pass of now. */
  private void pass(Optional<Instant> behind) {
    new Heartbeat(Instant.now(), behind, behind, Optional.empty(), 1, 0, 0, Duration.ofMillis(5))
        .write(new Workspace(terminal.workspace, DurableFiles.onDisk()));
  }

  @Test
  void aDamagedLedgerIsNotClosed() throws IOException {
    Path ledger = terminal.workspace.resolve("runs/ledger-2025-10.jsonl");
    Files.writeString(ledger, Files.readString(ledger).replace("11.00", "10.00"));

    Screen screen = close("2025-10");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err()).contains("nothing was closed", "nexa-slurm audit --repair");
    assertThat(statement(OCTOBER)).doesNotExist();
  }

  /** Each changed byte is found: in the statement, the signature, the cost files, the ledger. */
  @Test
  void eachChangedByteIsFound() throws IOException {
    close("2025-10");
    run(TRAIN, 2, "2025-10", "nlp", "USD", "12.50", "0.00", 7200);
    close("2025-11");
    Workspace workspace = new Workspace(terminal.workspace, DurableFiles.onDisk());
    Path allowed = folder.resolve("allowed_signers");
    Signers signers =
        new Signers(
            AllowedSigners.parse("" + allowed, Files.readString(allowed), ZoneOffset.UTC),
            RevokedKeys.NONE,
            Optional.empty(),
            new SshKeygen(Map.of()));
    TreeSet<YearMonth> months = new TreeSet<>(List.of(OCTOBER, NOVEMBER));
    assertThat(new VerifyMonths(workspace, signers).of(months)).isEmpty();
    Statements statements = new Statements(workspace);
    Path manifests = terminal.workspace.resolve("runs/manifests");
    List<Path> files =
        List.of(
            statements.file(OCTOBER),
            statements.signature(OCTOBER),
            statements.file(NOVEMBER),
            statements.signature(NOVEMBER),
            manifests.resolve("cost_" + TRAIN + ".v1.json"),
            manifests.resolve("cost_" + TRAIN + ".json"),
            manifests.resolve("cost_" + EVAL + ".json"),
            terminal.workspace.resolve("runs/ledger-2025-10.jsonl"));
    int step = SuiteSize.of("closing.step", 23, 1);
    for (Path file : files) {
      byte[] bytes = Files.readAllBytes(file);
      for (int at = 0; at < bytes.length; at += step) {
        byte[] changed = bytes.clone();
        changed[at] ^= (byte) (1 << at % 7);
        Files.write(file, changed);
        List<VerifyMonths.Finding> found = new VerifyMonths(workspace, signers).of(months);
        assertThat(found).as("%s, byte %d", file, at).isNotEmpty();
        String name = file.getFileName().toString();
        assertThat(found.stream().anyMatch(finding -> finding.file().endsWith(name)))
            .as("%s, byte %d: %s", name, at, found)
            .isTrue();
      }
      Files.write(file, bytes);
    }
    assertThat(new VerifyMonths(workspace, signers).of(months)).isEmpty();
  }

  @Test
  void verifySaysWhatToType() throws IOException {
    close("2025-10");
    Path cost = terminal.workspace.resolve("runs/manifests/cost_" + TRAIN + ".json");
    Files.writeString(cost, Files.readString(cost).replace("11.00", "10.00"));
    Files.writeString(
        statement(OCTOBER), Files.readString(statement(OCTOBER)).replace("ada", "bob"));

    Screen screen = terminal.type("costs", "close", "--verify", "2025-10");
    JsonObject json = terminal.type("costs", "close", "--verify", "--json").json();

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out())
        .contains("runs/statements/2025-10.json: its SHA-256 is ", "fay@site signed at ")
        .contains("  → bring 2025-10.json back from a backup")
        .contains("runs/manifests/cost_" + TRAIN + ".json: it was changed")
        .contains("  → nexa-slurm audit " + TRAIN)
        .contains("2 changes found");
    assertThat(json.objects("findings")).hasSize(2);
    assertThat(close("2025-11").err()).contains("nexa-slurm costs close --verify 2025-10");
    assertThat(terminal.type("costs", "close", "--verify", "2025-08").out())
        .contains("runs/statements/2025-08.json: it is not there");
  }

  /** Its signature is lost: it may have been reported, so that it is not replaced unseen. */
  @Test
  void aStatementWithoutASignatureIsNamedAndNotReplacedByAnother() throws IOException {
    close("2025-10");
    Path signature = statement(OCTOBER).resolveSibling("2025-10.signature.json");
    byte[] signed = Files.readAllBytes(signature);
    Files.delete(signature);

    Screen verify = terminal.type("costs", "close", "--verify");
    assertThat(verify.exit()).isEqualTo(1);
    assertThat(verify.out())
        .contains("runs/statements/2025-10.json: it has no signature")
        .contains("nexa-slurm costs close 2025-10", "1 change found");

    // The same amounts are what a process leaves that dies before it signs.
    assertThat(close("2025-10").exit()).isZero();
    Files.delete(signature);
    run("late_20251031_235959", 1, "2025-10", "nlp", "USD", "3.00", "0.00", 0);
    String before = Files.readString(statement(OCTOBER));
    for (String[] more : new String[][] {{}, {"--dry-run"}}) {
      Screen refused = close("2025-10", more);
      assertThat(refused.exit()).as(refused.err()).isEqualTo(2);
      assertThat(refused.err())
          .contains("2025-10.json has no signature", "[month-not-closable]")
          .contains("bring 2025-10.signature.json back", "mv ");
    }
    assertThat(Files.readString(statement(OCTOBER))).isEqualTo(before);

    Files.write(signature, signed);
    assertThat(close("2025-10").out()).startsWith("2025-10 was closed by fay@site");
    Files.delete(signature);
    Files.move(statement(OCTOBER), statement(OCTOBER).resolveSibling("2025-10.json.unsigned"));
    assertThat(close("2025-10").exit()).isZero();
    assertThat(terminal.type("costs", "close", "--verify").exit()).isZero();
  }

  /**
   * Short runs, whose amounts are rounded up: the rate counts. The GPUs of the nodes count once,
   * whatever profiles name them.
   */
  @Test
  void unusedGpusHaveTheRateOfTheRunsAndCountOnce() throws IOException {
    String gpu = Files.readString(terminal.workspace.resolve("configs/clusters/default.yaml"));
    terminal.file("configs/clusters/cpu.yaml", "accelerator: cpu\n" + gpu);
    terminal.file("configs/clusters/again.yaml", gpu);
    terminal.file(
        "configs/clusters/other.yaml", gpu.replace("gpu:", "big:").replace("night:", "small:"));
    run(TRAIN, 2, "2025-10", "nlp", "USD", "0.01", "0.00", 7);
    rate(TRAIN, "3.10");
    run("train_20251005_120000", 1, "2025-10", "nlp", "USD", "0.01", "0.00", 14);
    rate("train_20251005_120000", "2.20");

    Screen screen = close("2025-10");

    assertThat(screen.exit()).as(screen.err()).isZero();
    // (8 * 744 h - 21 s) at (7 * 3.10 + 14 * 2.20) / 21 = 2.50 are 14879.985…
    assertThat(screen.out())
        .contains(
            """
            CLUSTER         GPU TYPE  GPUS  CAPACITY GPU HOURS  USED GPU HOURS  UNUSED GPU HOURS  CURRENCY  GPU HOUR  UNUSED COST
            again, default  h100         8             5952.00            0.01           5951.99  USD       2.500000     14879.99
            other           h100         8             5952.00            0.00           5952.00  -                -            -
            """);
    assertThat(screen.out()).doesNotContain("\ncpu ");
    assertThat(terminal.type("costs", "close", "--verify").exit()).isZero();
  }

  private void rate(String id, String price) throws IOException {
    Path file = terminal.workspace.resolve("runs/manifests/cost_" + id + ".json");
    Files.writeString(
        file,
        Files.readString(file)
            .replaceFirst(
                "\\n}",
                ",\n  \"actual\": {\"lines\": [{\"what\": \"gpu:h100\", \"quantity\": \"0.0019\","
                    + " \"unit\": \"gpu_hour\", \"unit_price\": \""
                    + price
                    + "\", \"source\": \"test\", \"amount\": \"0.01\"}]}\n}"));
  }
}
