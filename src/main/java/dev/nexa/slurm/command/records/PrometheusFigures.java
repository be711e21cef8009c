package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Figures of a workspace for Prometheus. Each label has a bounded number of values, because each
 * value is a time series of its own: a project beyond the 50 with the highest cost counts as {@code
 * (others)}, a budget beyond the policy's first 100 is left out.
 *
 * @param unfinished the unfinished runs by state
 * @param ended the runs that ended in this month, by status
 * @param waits quantiles of their time in the queue, in seconds; empty if none is known
 * @param spent what they cost by project and currency
 * @param noticesWaiting notifications of this user that wait
 * @param noticesFailed notifications of this user that did not arrive
 */
record PrometheusFigures(
    Map<String, Integer> unfinished,
    Map<String, Integer> ended,
    Map<String, Long> waits,
    List<Spent> spent,
    List<BudgetStatus> budgets,
    int noticesWaiting,
    int noticesFailed) {
  private static final int MOST_PROJECTS = 50;
  private static final int MOST_BUDGETS = 100;
  private static final String NONE = "(none)";
  private static final String SUBMITTED = "submitted";
  private static final String OTHERS = "(others)";

  /**
   * The cost of a project.
   *
   * @param project its name; {@code (none)} for runs without a project
   */
  record Spent(String project, String currency, BigDecimal amount) {}

  /** Reads the figures. Records that cannot be read do not count: `costs` and `audit` name them. */
  static PrometheusFigures of(Context context, Instant now) {
    Map<String, Integer> unfinished = new TreeMap<>();
    for (RunId id : context.workspace().openRuns()) {
      unfinished.merge(state(context.workspace().run(id)), 1, Integer::sum);
    }
    String month = YearMonth.from(now.atOffset(ZoneOffset.UTC)).toString();
    Map<String, Integer> ended = new TreeMap<>();
    List<Long> waits = new ArrayList<>();
    Map<List<String>, BigDecimal> spent = new HashMap<>();
    new FinishedRuns(context.workspace())
        .forEach(
            run -> {
              if (run.month().equals(month)) {
                count(run, ended, waits, spent);
              }
            });
    Outbox outbox = new Outbox(context.workspace());
    // Two budgets of one name and period would be one time series.
    Map<String, BudgetStatus> budgets = new LinkedHashMap<>();
    new BudgetUsage(context)
        .on(LocalDate.ofInstant(now, ZoneOffset.UTC), new ArrayList<>())
        .forEach(
            budget -> budgets.putIfAbsent(budget.name() + " " + budget.budget().period(), budget));
    return new PrometheusFigures(
        unfinished,
        ended,
        quantiles(waits),
        bounded(spent),
        budgets.values().stream().limit(MOST_BUDGETS).toList(),
        outbox.countWaiting(),
        outbox.countFailed());
  }

  /** Returns the state that the last pass wrote. */
  private static String state(RunFolder run) {
    try {
      return Files.exists(run.manifest()) ? ManifestFile.read(run).state() : SUBMITTED;
    } catch (UncheckedIOException | IllegalArgumentException | NexaException unreadable) {
      return NONE;
    }
  }

  private static void count(
      LedgerLine run,
      Map<String, Integer> ended,
      List<Long> waits,
      Map<List<String>, BigDecimal> spent) {
    String status = run.status();
    ended.merge(status == null ? NONE : status, 1, Integer::sum);
    Long wait = run.queueSeconds();
    if (wait != null) {
      waits.add(wait);
    }
    BigDecimal cost = run.cost();
    String currency = run.currency();
    if (cost != null && currency != null) {
      BigDecimal credit = run.credit();
      String project = run.tagged("project");
      spent.merge(
          List.of(project == null ? NONE : project, currency),
          credit == null ? cost : cost.subtract(credit),
          BigDecimal::add);
    }
  }

  private static Map<String, Long> quantiles(List<Long> waits) {
    Map<String, Long> quantiles = new LinkedHashMap<>();
    if (!waits.isEmpty()) {
      Collections.sort(waits);
      quantiles.put("0.5", waits.get((waits.size() - 1) / 2));
      quantiles.put("0.9", waits.get((waits.size() - 1) * 9 / 10));
      quantiles.put("1", waits.get(waits.size() - 1));
    }
    return quantiles;
  }

  static List<Spent> bounded(Map<List<String>, BigDecimal> spent) {
    List<Spent> all = new ArrayList<>();
    spent.forEach((key, amount) -> all.add(new Spent(key.get(0), key.get(1), amount)));
    all.sort(Comparator.comparing(Spent::amount).reversed().thenComparing(Spent::project));
    List<Spent> kept = new ArrayList<>(all.subList(0, Math.min(MOST_PROJECTS, all.size())));
    Map<String, BigDecimal> others = new TreeMap<>();
    for (Spent one : all.subList(kept.size(), all.size())) {
      others.merge(one.currency(), one.amount(), BigDecimal::add);
    }
    others.forEach((currency, amount) -> kept.add(new Spent(OTHERS, currency, amount)));
    return kept;
  }
}
