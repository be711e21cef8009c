package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.JobUsages;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspaces;
import dev.nexa.slurm.run.results.TaskResults;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * Whatever becomes of a job, the cost, an import and {@code usage} count the time that it held its
 * nodes, once, in whatever order sacct prints the rows.
 */
class SacctHistoriesTest {
  private static final int HISTORIES = SuiteSize.of("sacct.histories", 400, 20_000);
  private static final String US = SacctRows.US;
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);

  /** Each attempt is rounded to so many, and no history has a hundred attempts. */
  private static final Offset<BigDecimal> SIX_DECIMALS = within(new BigDecimal("0.0001"));

  private final RunFolder run = Workspaces.inMemory().run(Facts.ID);

  @Test
  void theTimeThatAJobHeldItsNodesIsChargedOnce() throws IOException {
    int resized = 0;
    for (int seed = 0; seed < HISTORIES; seed++) {
      SacctHistory history = new SacctHistory(new Random(seed), 1 + seed % 3);
      resized += history.resizes() > 0 ? 1 : 0;
      long seconds = history.nodeSeconds();
      RunFacts facts = Facts.of(history.tasks(), 9);
      RunState journal = Facts.journal(history.tasks(), "created submitting submitted confirmed");
      for (int order = 0; order < 3; order++) {
        String rows = history.printed();
        String what = "seed %d: %s".formatted(seed, rows.replace(US, "|"));

        TaskEvidence evidence = TaskEvidence.gather(slurm(rows), List.of(journal));
        RunOutcome outcome = evidence.outcome(run, facts, journal, new ArrayList<>());

        assertThat(evidence.disagreements(journal, List.of())).as(what).isEmpty();
        assertThat(outcome.status()).as(what).isEqualTo(RunStatus.COMPLETED);
        assertThat(outcome.used().gpuSeconds())
            .as(what)
            .isEqualTo(Map.of("h100", SacctHistory.gpus() * seconds));
        assertThat(outcome.used().cpuSeconds()).as(what).isEqualTo(SacctHistory.cpus() * seconds);
        assertThat(outcome.wasted().cpuSeconds())
            .as(what)
            .isEqualTo(SacctHistory.cpus() * history.wastedNodeSeconds());
        RunCost sum = CostRecord.cost(facts, journal, outcome, TaskResults.NONE);
        CostFile cost =
            CostRecord.of(
                facts, journal, outcome, sum, TaskResults.NONE, EnumSet.noneOf(JobState.class));
        assertThat(cost.total()).as(what).isEqualTo(exact(seconds));
        assertThat(attempts(cost)).as(what).isCloseTo(unrounded(seconds), SIX_DECIMALS);
        assertThat(imported(rows)).as(what).isEqualTo(SacctHistory.cpus() * seconds);
        assertThat(usage(rows)).as(what).isEqualTo(SacctHistory.gpus() * seconds);
      }
    }
    assertThat(resized).isGreaterThan(HISTORIES / 5);
  }

  /**
   * Each of the three times is set back, alone and with the others; ElapsedRaw says the same. What
   * cannot be seen here is a run that waited long in the queue: RunPassTest has its limit.
   */
  @Test
  void aTimeThatIsSetBackIsToldOrCostsNothingMore() {
    RunState journal = Facts.journal(1, "created submitting submitted confirmed");
    RunFacts facts = Facts.of(1, 0);
    // In the past hour, so that the row may still be mended; and a year ago.
    for (long hours : new long[] {1, 24 * 365}) {
      long submit = Instant.now().getEpochSecond() - hours * 3600;
      for (long back : new long[] {3, 50, 7200, 200_000, 40_000_000, 800_000_000}) {
        for (int which = 0; which < 8; which++) {
          long early = submit - (which & 1) * back;
          long start = submit + 10 - (which >> 1 & 1) * back;
          long end = submit + 70 - (which >> 2 & 1) * back;
          String what = "%d h ago, back %d, which %d".formatted(hours, back, which);

          TaskEvidence evidence =
              TaskEvidence.gather(slurm(SacctHistory.row(early, start, end)), List.of(journal));
          RunOutcome outcome = evidence.outcome(run, facts, journal, new ArrayList<>());

          long charged = outcome.used().cpuSeconds() / SacctHistory.cpus();
          boolean told = !evidence.disagreements(journal, List.of()).isEmpty();
          boolean settled = outcome.ended() && !evidence.isInDoubt(journal);
          long sent = Rows.NOON.getEpochSecond() - 300;
          if (end < sent && early < sent && !(early <= start && start <= end)) {
            // It contradicts itself, and nobody can say that it is the run's.
            assertThat(outcome.attempts()).as(what).isEmpty();
            assertThat(told && evidence.isInDoubt(journal)).as(what).isTrue();
          } else if (early < sent && end >= sent) {
            assertThat(told).as(what).isTrue();
          } else if (settled && !told) {
            // A job may wait before it starts, so an earlier Submit alone proves nothing.
            assertThat(charged).as(what).isEqualTo(Math.max(0, end - start));
            assertThat(start).as(what).isBetween(early, end);
          } else if (settled) {
            assertThat(charged)
                .as(what)
                .isBetween(60L, facts.work().timeLimit().plusDays(1).toSeconds());
          } else {
            assertThat(evidence.isInDoubt(journal)).as(what).isTrue();
          }
        }
      }
    }
  }

  /** Right rows, and each once more as of another year: contradictory, and also consistent. */
  @Test
  void aRowOfBeforeTheRunIsNotChargedBesideTheRunsOwn() {
    RunState journal = Facts.journal(1, "created submitting submitted confirmed");
    RunFacts facts = Facts.of(1, 0);
    long submit = Rows.NOON.getEpochSecond() + 60;
    String own = SacctHistory.row(submit, submit + 10, submit + 70);
    long before = submit - 40_000_000;
    String consistent = SacctHistory.row(before, before + 10, before + 7210);
    String wrong = consistent.replace(US + "7200" + US, US + "7300" + US);
    assertThat(wrong).isNotEqualTo(consistent);
    for (String rows :
        List.of(own + wrong, wrong + own, own + consistent, consistent + own + wrong + own)) {
      TaskEvidence evidence = TaskEvidence.gather(slurm(rows), List.of(journal));
      RunOutcome outcome = evidence.outcome(run, facts, journal, new ArrayList<>());

      assertThat(outcome.used().cpuSeconds()).isEqualTo(60 * SacctHistory.cpus());
      assertThat(outcome.ended()).isTrue();
      assertThat(evidence.isInDoubt(journal)).isFalse();
      assertThat(evidence.disagreements(journal, List.of()))
          .isNotEmpty()
          .allMatch(
              line ->
                  line.endsWith("it is not charged, and a run whose task has no other row waits"));
    }
    TaskEvidence alone = TaskEvidence.gather(slurm(wrong), List.of(journal));
    assertThat(alone.isInDoubt(journal)).isTrue();
    assertThat(alone.outcome(run, facts, journal, new ArrayList<>()).attempts()).isEmpty();
  }

  /** In the order of the lines of a cost file, each rounded once. */
  private static Money exact(long nodeSeconds) {
    BigDecimal sum = BigDecimal.ZERO;
    for (BigDecimal part : parts(nodeSeconds)) {
      sum = sum.add(part.setScale(2, RoundingMode.HALF_EVEN));
    }
    return new Money(sum, "USD");
  }

  private static BigDecimal unrounded(long nodeSeconds) {
    BigDecimal sum = BigDecimal.ZERO;
    for (BigDecimal part : parts(nodeSeconds)) {
      sum = sum.add(part);
    }
    return sum;
  }

  private static List<BigDecimal> parts(long nodeSeconds) {
    List<BigDecimal> parts = new ArrayList<>();
    for (String[] one :
        new String[][] {
          {"5.50", "" + SacctHistory.gpus()},
          {"0.04", "" + SacctHistory.cpus()},
          {"0.005", "" + SacctHistory.gib()}
        }) {
      parts.add(
          new BigDecimal(one[0])
              .multiply(new BigDecimal(one[1]))
              .multiply(BigDecimal.valueOf(nodeSeconds))
              .divide(HOUR, MathContext.DECIMAL128));
    }
    return parts;
  }

  private static BigDecimal attempts(CostFile cost) {
    BigDecimal sum = BigDecimal.ZERO;
    for (CostFile.Attempt attempt : cost.attempts()) {
      sum = sum.add(attempt.amount());
    }
    return sum;
  }

  /** The CPU-seconds of the one job that an import makes of the rows. */
  private static long imported(String rows) {
    List<AccountingRecord> all = new ArrayList<>();
    slurm(rows).accounting(AccountingQuery.byIds(List.of(Rows.JOB), Rows.NOON), all::add);
    List<AdoptedJob> jobs = AdoptedJob.of(all);
    assertThat(jobs).hasSize(1);
    long seconds = 0;
    for (AccountingRecord row : jobs.get(0).rows()) {
      assertThat(row.more().faults()).isEmpty();
      seconds += row.elapsedSeconds() * row.nodeCount() * SacctHistory.cpus();
    }
    return seconds;
  }

  /** The GPU-seconds that {@code usage} reads out of a dump with these rows. */
  private static long usage(String rows) {
    Problems problems = new Problems();
    JobUsages usages = new JobUsages(problems);
    try (DumpText reader =
        new DumpText(US, SacctHistory.COLUMNS, ZoneOffset.UTC, usages, problems)) {
      byte[] bytes = rows.getBytes(StandardCharsets.UTF_8);
      reader.write(bytes, 0, bytes.length);
    }
    long[] seconds = {0};
    usages.each(
        (JobUsage job) ->
            seconds[0] += job.time().gpuSeconds() == null ? 0 : job.time().gpuSeconds());
    return seconds[0];
  }

  private static SlurmScheduler slurm(String rows) {
    CommandRunner clients =
        new CommandRunner() {
          @Override
          public CommandResult stream(
              Command command, OutputStream out, Consumer<ProcessIdentity> started)
              throws IOException {
            String client = command.argv().get(0);
            String text =
                client.equals("sacct")
                    ? SacctRows.delimited(rows, command.argv())
                    : client.equals("squeue")
                        ? ""
                        : "AccountingStorageType = accounting_storage/slurmdbd\n";
            out.write(text.getBytes(StandardCharsets.UTF_8));
            return new CommandResult(0, "", "", false);
          }
        };
    return new SlurmScheduler(
        clients, Map.of(), Path.of("/"), ClientTimeouts.DEFAULT, Optional::empty);
  }
}
