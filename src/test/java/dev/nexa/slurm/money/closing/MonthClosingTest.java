package dev.nexa.slurm.money.closing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Statements of random ledgers against sums that the test makes from its own list of lines. */
class MonthClosingTest {
  private static final int LEDGERS = SuiteSize.of("closing.ledgers", 60, 1200);
  private static final YearMonth FIRST = YearMonth.of(2025, 9);
  private static final List<String> CURRENCIES = List.of("USD", "EUR", "JPY");

  @TempDir Path folder;

  /** A line as the test knows it: all money in the smallest unit of the currency. */
  private record Known(
      String run,
      int version,
      YearMonth month,
      String currency,
      long cost,
      long credit,
      String project,
      String user,
      String account) {
    String members() {
      int decimals = currency.equals("JPY") ? 0 : 2;
      return String.format(
          "'run_id': '%s', 'version': %d, 'status': 'completed', 'tags': ['project:%s'], 'user':"
              + " '%s', 'account': '%s', 'currency': '%s', 'cost': '%s', 'credit': '%s',"
              + " 'ended': '%s-15T00:00:00Z'",
          run,
          version,
          project,
          user,
          account,
          currency,
          BigDecimal.valueOf(cost, decimals).toPlainString(),
          BigDecimal.valueOf(credit, decimals).toPlainString(),
          month);
    }

    Map<String, Long> totals(Map<String, Map<String, Long>> api) {
      Map<String, Long> totals = new TreeMap<>();
      totals.merge(currency, cost - credit, Long::sum);
      api.getOrDefault(run, Map.of())
          .forEach((code, units) -> totals.merge(code, units, Long::sum));
      return totals;
    }
  }

  /** What the books should hold for each run after the last closing, by group and currency. */
  private final Map<String, Map<List<String>, Long>> books = new TreeMap<>();

  @Test
  void allStatementsTogetherHoldWhatTheLedgerHolds() {
    for (int seed = 0; seed < LEDGERS; seed++) {
      books.clear();
      history(new Random(seed), folder.resolve("ledger" + seed), "seed " + seed);
    }
  }

  private void history(Random random, Path root, String seed) {
    Workspace workspace = new Workspace(root, DurableFiles.onDisk());
    List<Known> lines = new ArrayList<>();
    Map<String, Map<String, Long>> api = new TreeMap<>();
    List<BillRow> rows = new ArrayList<>();
    Booked booked = new Booked();
    Optional<String> previous = Optional.empty();
    int before = random.nextInt(3);
    for (int i = 0; i < 3; i++) {
      YearMonth month = FIRST.plusMonths(i);
      for (int n = random.nextInt(8) + before; n > 0; n--) {
        Known line = line(random, lines, month);
        lines.add(line);
        Lines.write(root, line.month().toString(), Lines.line(line.members()));
      }
      for (int n = random.nextInt(3); n > 0 && !lines.isEmpty(); n--) {
        String run = lines.get(random.nextInt(lines.size())).run();
        String currency = CURRENCIES.get(random.nextInt(2));
        long cents = random.nextInt(10_000);
        rows.add(row(rows.size(), run, currency, cents));
        api.computeIfAbsent(run, id -> new TreeMap<>()).merge(currency, cents, Long::sum);
      }
      Statement statement = closed(workspace, month, booked, rows, previous);
      Map<List<String>, Long> expected = expected(lines, api, month);

      assertThat(sums(statement)).as("%s, %s", seed, month).isEqualTo(expected);
      assertThat(closed(workspace, month, booked, rows, previous).text())
          .isEqualTo(statement.text());
      assertThat(Statement.parse(statement.text(), "statement").text()).isEqualTo(statement.text());
      booked.add(statement);
      previous = Optional.of("" + i);
    }
  }

  /** A new run, or another version of one, which may move it to an earlier or a later month. */
  private static Known line(Random random, List<Known> lines, YearMonth month) {
    boolean again = !lines.isEmpty() && random.nextInt(3) == 0;
    Known old = again ? lines.get(random.nextInt(lines.size())) : null;
    int version = 1;
    for (Known line : lines) {
      version = old != null && line.run().equals(old.run()) ? line.version() + 1 : version;
    }
    YearMonth ended =
        random.nextInt(5) == 0
            ? month.minusMonths(random.nextInt(3))
            : month.plusMonths(random.nextInt(4) == 0 ? 1 : 0);
    long cost = random.nextInt(100_000);
    return new Known(
        old != null ? old.run() : String.format("train_20250901_%06d", lines.size()),
        version,
        ended,
        old != null && random.nextInt(5) > 0
            ? old.currency()
            : CURRENCIES.get(random.nextInt(CURRENCIES.size())),
        cost,
        random.nextInt(4) == 0 ? random.nextInt((int) cost + 1) : 0,
        "p" + random.nextInt(3),
        "u" + random.nextInt(3),
        old != null && random.nextBoolean() ? old.account() : "a" + random.nextInt(2));
  }

  private static BillRow row(int number, String run, String currency, long cents) {
    return new BillRow(
        "row" + number,
        run,
        BillRow.API,
        "2025-09-01",
        "tokens",
        BigDecimal.valueOf(cents, 2),
        currency,
        false,
        Optional.empty(),
        Optional.empty());
  }

  private static Statement closed(
      Workspace workspace,
      YearMonth month,
      Booked booked,
      List<BillRow> rows,
      Optional<String> previous) {
    Charges charges = new Charges();
    rows.forEach(charges::add);
    MonthClosing closing =
        new MonthClosing(
            month,
            FIRST,
            booked,
            charges,
            run -> new Posting.Proof(Optional.empty(), run.sha256(), List.of()));
    FinishedRuns runs = new FinishedRuns(workspace);
    runs.forEach((LedgerLine run) -> closing.add(run));
    assertThat(runs.problems()).isEmpty();
    assertThat(closing.missing()).isEmpty();
    return closing.statement(previous, List.of(), List.of(), List.of());
  }

  /** The test's own sums: what the books hold after this closing, minus what they held before. */
  private Map<List<String>, Long> expected(
      List<Known> lines, Map<String, Map<String, Long>> api, YearMonth month) {
    Map<List<String>, Long> changes = new TreeMap<>(MonthClosingTest::compare);
    Map<String, Known> newest = new TreeMap<>();
    for (Known line : lines) {
      Known other = newest.get(line.run());
      if (other == null || line.version() > other.version()) {
        newest.put(line.run(), line);
      }
    }
    for (Known run : newest.values()) {
      boolean known = books.containsKey(run.run());
      if (run.month().isAfter(month) || (run.month().isBefore(FIRST) && !known)) {
        continue;
      }
      Map<List<String>, Long> now = new TreeMap<>(MonthClosingTest::compare);
      run.totals(api)
          .forEach(
              (currency, units) -> {
                now.put(List.of("project", run.project(), currency), units);
                now.put(List.of("user", run.user(), currency), units);
                now.put(List.of("account", run.account(), currency), units);
                now.put(List.of("total", "", currency), units);
              });
      now.forEach((key, units) -> changes.merge(key, units, Long::sum));
      books
          .getOrDefault(run.run(), Map.of())
          .forEach((key, units) -> changes.merge(key, -units, Long::sum));
      books.put(run.run(), now);
    }
    changes.values().removeIf(units -> units == 0);
    return changes;
  }

  private static int compare(List<String> one, List<String> other) {
    return String.join("\n", one).compareTo(String.join("\n", other));
  }

  private static Map<List<String>, Long> sums(Statement statement) {
    Map<List<String>, Long> sums = new TreeMap<>(MonthClosingTest::compare);
    Function<Sum, Long> units =
        sum -> sum.amounts().total().movePointRight(sum.amounts().total().scale()).longValueExact();
    statement
        .totals()
        .forEach(sum -> sums.put(List.of("total", "", sum.currency()), units.apply(sum)));
    for (String group : Statement.GROUPS) {
      statement
          .by(group)
          .forEach(
              sum ->
                  sums.put(
                      List.of(group, sum.name().orElseThrow(), sum.currency()), units.apply(sum)));
    }
    sums.values().removeIf(amount -> amount == 0);
    return sums;
  }
}
