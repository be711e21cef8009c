package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctText;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspaces;
import dev.nexa.slurm.run.results.TaskResults;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every field of genuine rows is broken in every way that was thought of. The run must not become
 * cheaper without a word: its cost is at least the true one, or somebody is told, or it waits.
 * src/test/resources/sacct/README.md says what the rows are of.
 */
class FaultyRowsTest {
  private static final String US = SacctRows.US;
  private static final List<String> COLUMNS = columns();
  private static final List<List<String>> GENUINE = genuine();
  private static final List<String> VALUES =
      List.of(
          "",
          "0",
          "1",
          "-1",
          "-3600",
          "soon",
          "4294967294",
          "4294967295",
          "18446744073709551614",
          "99999999999",
          "Unknown",
          "None",
          "N/A",
          "2:1");

  private static final RunState JOURNAL =
      Facts.journal(2, "created submitting submitted confirmed");

  private final RunFolder run = claimed();
  private int silent;
  private int reported;

  @Test
  void genuineRowsContradictNothing() {
    List<AccountingRecord> rows = new ArrayList<>();
    read(text(GENUINE), rows, new ArrayList<>());

    assertThat(rows).hasSize(GENUINE.size()).hasSizeGreaterThan(20);
    assertThat(rows).allSatisfy(row -> assertThat(row.more().faults()).isEmpty());
  }

  /** Where they can be asked: what this cluster ever ran, thousands of jobs of other tests. */
  @ParameterizedTest
  @ValueSource(longs = {2, 24 * 30})
  void whateverFieldIsBrokenTheRunIsNotCheaperWithoutAWord(long hoursAgo) {
    for (List<String> genuine : GENUINE) {
      List<String> whole = ours(genuine, 0, hoursAgo);
      if (parse(whole).ran()) {
        List<String> other = ours(GENUINE.get(2), 1, hoursAgo);
        RunFacts facts = facts(parse(whole));
        Money truth = outcome(List.of(whole, other), facts).cost();
        for (int column = 0; column < COLUMNS.size(); column++) {
          for (String value : values(whole, column, hoursAgo)) {
            List<String> broken = new ArrayList<>(whole);
            broken.set(column, value);
            check(COLUMNS.get(column), whole, broken, other, facts, truth);
          }
        }
      }
    }
    System.out.printf(
        "faulty rows, %d h ago: %d not cheaper without a word, %d told or waited for%n",
        hoursAgo, silent, reported);
    assertThat(silent).isPositive();
    assertThat(reported).isGreaterThan(1000);
  }

  private void check(
      String column,
      List<String> whole,
      List<String> broken,
      List<String> other,
      RunFacts facts,
      Money truth) {
    Came came = outcome(List.of(broken, other), facts);
    if (came.settled() && !came.told()) {
      silent++;
      assertThat(came.cost().amount())
          .as("%s of %s is '%s'", column, whole, broken.get(COLUMNS.indexOf(column)))
          .isGreaterThanOrEqualTo(truth.amount());
    } else {
      reported++;
    }
    // A week later nobody is left to fix it: then it is the most, not the least.
    boolean givenUp = came.settled() && came.faulty();
    if (givenUp) {
      assertThat(came.cost().amount())
          .as("given up: %s of %s is '%s'", column, whole, broken)
          .isGreaterThanOrEqualTo(truth.amount());
    }
  }

  /** What the values of the field were in other rows, and worse. */
  private static Set<String> values(List<String> whole, int column, long hoursAgo) {
    Set<String> values = new LinkedHashSet<>(VALUES);
    for (List<String> row : GENUINE) {
      values.add(ours(row, 0, hoursAgo).get(column));
      values.add(row.get(column));
    }
    if (COLUMNS.get(column).equals("AllocTRES")) {
      String[] items = whole.get(column).split(",", -1);
      String asked = whole.get(COLUMNS.indexOf("ReqTRES"));
      for (String item : items) {
        String name = item.substring(0, item.indexOf('='));
        // What nobody asked for, as an exclusive node's GPUs, no other field names.
        boolean named = asked.contains(name.replaceAll(":.*", "") + "=");
        if (named && !name.equals("gres/gpu:h100")) {
          values.add(("," + whole.get(column)).replace("," + item, "").replaceFirst("^,", ""));
          for (String worse : List.of("0", "-1", "", "4294967294", "x")) {
            values.add(whole.get(column).replace(item, name + "=" + worse));
          }
        }
      }
    }
    values.remove(whole.get(column));
    return values;
  }

  /**
   * What a pass makes of the rows.
   *
   * @param settled whether the run is final
   * @param told whether anything is reported
   * @param faulty whether a row is known to contradict itself
   */
  private record Came(Money cost, boolean settled, boolean told, boolean faulty) {}

  private Came outcome(List<List<String>> rows, RunFacts facts) {
    FakeScheduler scheduler = new FakeScheduler();
    List<String> unreadable = new ArrayList<>();
    read(text(rows), scheduler.rows, unreadable);
    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(JOURNAL));
    List<String> problems = new ArrayList<>();
    RunOutcome outcome = evidence.outcome(run, facts, JOURNAL, problems);
    List<String> told = SourceComparison.of(run, JOURNAL, outcome).told();
    return new Came(
        CostRecord.cost(facts, JOURNAL, outcome, TaskResults.NONE).total(),
        outcome.ended() && !evidence.isInDoubt(JOURNAL) && unreadable.isEmpty(),
        !evidence.disagreements(JOURNAL, told).isEmpty() || !unreadable.isEmpty(),
        !evidence.faulty(JOURNAL).isEmpty());
  }

  /** As SlurmScheduler does. */
  private static void read(String text, List<AccountingRecord> rows, List<String> unreadable) {
    SacctText reader = new SacctText(US, SacctText.CHECKS, rows::add, unreadable::add);
    try (reader) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      reader.write(bytes, 0, bytes.length);
    }
    rows.addAll(reader.broken());
    if (unreadable.size() == reader.broken().size()) {
      unreadable.clear();
    }
  }

  private static AccountingRecord parse(List<String> row) {
    List<AccountingRecord> rows = new ArrayList<>();
    read(text(List.of(row)), rows, new ArrayList<>());
    return rows.get(0);
  }

  /** The row as one of a task of our run, some hours ago. */
  private static List<String> ours(List<String> genuine, int task, long hoursAgo) {
    List<String> row = new ArrayList<>(genuine);
    row.set(COLUMNS.indexOf("JobIDRaw"), "" + (Rows.JOB + 1 + task));
    row.set(COLUMNS.indexOf("JobID"), Rows.JOB + "_" + task);
    row.set(COLUMNS.indexOf("JobName"), Rows.KEY);
    row.set(COLUMNS.indexOf("State"), genuine.get(COLUMNS.indexOf("State")));
    long submit = Long.parseLong(genuine.get(COLUMNS.indexOf("Submit")));
    long base = Instant.now().minus(Duration.ofHours(hoursAgo)).getEpochSecond() / 60 * 60;
    for (String time : List.of("Submit", "Start", "End")) {
      String cell = genuine.get(COLUMNS.indexOf(time));
      if (cell.matches("\\d+")) {
        row.set(COLUMNS.indexOf(time), "" + (Long.parseLong(cell) - submit + base));
      }
    }
    return row;
  }

  /** What the job was planned to hold is what it held. */
  private static RunFacts facts(AccountingRecord row) {
    RunFacts facts = Facts.of(2, 0);
    return new RunFacts(
        facts.id(),
        facts.labels(),
        facts.place(),
        facts.work(),
        new RunFacts.Planned(
            facts.planned().gpuType(),
            Tres.parse(row.allocTres()).gpus().orElse(0L),
            row.allocTres(),
            List.of()),
        facts.rates(),
        facts.estimate(),
        facts.logs(),
        facts.kept(),
        facts.code(),
        facts.energy(),
        facts.program());
  }

  /** Both tasks were claimed by their jobs. */
  private static RunFolder claimed() {
    RunFolder run = Workspaces.inMemory().run(Facts.ID);
    try {
      Files.createDirectories(run.path());
      run.stageSubmission(Rows.KEY, IndexRange.upTo(2), 0);
      for (int task = 0; task < 2; task++) {
        Path claim = run.submission(Rows.KEY).resolve("claims").resolve("" + task);
        Path holder = claim.getFileSystem().getPath("" + (Rows.JOB + 1 + task));
        Files.createSymbolicLink(claim, holder);
        Path done = Files.createDirectories(run.path().resolve("done")).resolve("" + task);
        Files.createSymbolicLink(done, holder);
      }
      return run;
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  private static String text(List<List<String>> rows) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      text.append(String.join(US, row)).append('\n');
    }
    return text.toString();
  }

  private static List<String> columns() {
    List<String> columns = new ArrayList<>(SacctText.FIELDS);
    columns.addAll(SacctText.CHECKS);
    return columns;
  }

  private static List<List<String>> genuine() {
    Path file = Path.of("src/test/resources/sacct/22.05.8-genuine.txt");
    List<List<String>> rows = new ArrayList<>();
    for (String line : DurableFiles.read(file).lines().toList()) {
      rows.add(List.of(line.split(US, -1)));
    }
    return rows;
  }
}
