package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.insight.report.MonthSums.Expected;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.summary.CostSummary;
import dev.nexa.slurm.money.summary.GroupBy;
import dev.nexa.slurm.money.summary.RunAnalysis;
import dev.nexa.slurm.money.summary.RunFilter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Adds up the first page of the report, run by run. It takes the money from {@link CostSummary}, so
 * that it equals what {@code costs} prints.
 */
final class OverviewSums {
  private static final List<String> FIELDS =
      List.of("project", "user", "model", "stage", "pipeline");

  private final List<String> months;
  private final CostSummary byMonth;
  private final Map<String, CostSummary> byField = new LinkedHashMap<>();
  private final Map<String, GpuHours> gpu = new LinkedHashMap<>();
  private final Map<String, Expected> expected = new HashMap<>();
  private final RunAnalysis waits = new RunAnalysis(GroupBy.parse("partition"), RunFilter.all());

  /**
   * Creates empty sums.
   *
   * @param months the months that count, oldest first
   */
  OverviewSums(List<String> months, Charges charges) {
    this.months = months;
    byMonth = new CostSummary(GroupBy.parse("month"), RunFilter.all(), charges);
    for (String field : FIELDS) {
      byField.put(
          field, new CostSummary(GroupBy.parse("month," + field), RunFilter.all(), charges));
    }
    months.forEach(month -> gpu.put(month, new GpuHours(month, 0, 0)));
  }

  /** Adds a finished run if its month counts. */
  void add(LedgerLine run) {
    if (!gpu.containsKey(run.month())) {
      return;
    }
    byMonth.add(run);
    byField.values().forEach(sums -> sums.add(run));
    waits.add(run);
    gpu.computeIfPresent(
        run.month(),
        (month, hours) ->
            hours.plus(
                ReportedRun.orZero(run.gpuSeconds()),
                ReportedRun.orZero(run.whole(LedgerKey.GPU_SECONDS_WASTED))));
    BigDecimal estimate = run.decimal(LedgerKey.EXPECTED);
    BigDecimal actual = run.computeCost();
    if (estimate != null && actual != null) {
      expected.merge(
          run.currency() + " " + run.month(), new Expected(estimate, actual, 1), Expected::plus);
    }
  }

  /**
   * Returns the sums.
   *
   * @param budgets the budgets, which have sums of their own
   */
  Overview overview(List<BudgetOutlook> budgets) {
    List<CurrencySums> currencies =
        byMonth.totals().stream()
            .sorted(Comparator.comparing(CostSummary.Group::runs).reversed())
            .map(total -> currency(total.currency()))
            .toList();
    return new Overview(months, currencies, List.copyOf(gpu.values()), waits(), budgets);
  }

  private CurrencySums currency(String currency) {
    List<SpendBy> spend =
        byField.entrySet().stream()
            .map(field -> spend(field.getKey(), field.getValue(), currency))
            .toList();
    return new CurrencySums(currency, months(currency), projects(currency), spend);
  }

  private List<MonthSums> months(String currency) {
    Map<String, MonthSums> sums = new LinkedHashMap<>();
    months.forEach(month -> sums.put(month, MonthSums.none(month)));
    for (CostSummary.Group group : byMonth.groups()) {
      if (group.currency().equals(currency)) {
        String month = group.key().get(0);
        Expected known = expected.getOrDefault(currency + " " + month, Expected.NONE);
        sums.put(month, sums(month, group, known));
      }
    }
    return List.copyOf(sums.values());
  }

  private static MonthSums sums(String month, CostSummary.Group group, Expected known) {
    return new MonthSums(
        month,
        group.runs(),
        group.failed(),
        group.cost(),
        group.credit(),
        group.api(),
        group.part(CostKind.API_TOKENS),
        group.billed(),
        group.estimated(),
        group.difference(),
        group.wasted(),
        known);
  }

  /** Returns the projects of the two newest months, newest month first. */
  private List<ProjectMonth> projects(String currency) {
    return Objects.requireNonNull(byField.get("project")).groups().stream()
        .filter(group -> group.currency().equals(currency))
        .filter(group -> months.indexOf(group.key().get(0)) >= months.size() - 2)
        .map(
            group ->
                new ProjectMonth(
                    known(group.key().get(1)), sums(group.key().get(0), group, Expected.NONE)))
        .sorted(
            Comparator.comparing((ProjectMonth one) -> one.sums().month())
                .thenComparing(one -> one.sums().total())
                .reversed())
        .toList();
  }

  private SpendBy spend(String field, CostSummary summary, String currency) {
    Map<String, List<BigDecimal>> rows = new LinkedHashMap<>();
    for (CostSummary.Group group : summary.groups()) {
      if (group.currency().equals(currency)) {
        rows.computeIfAbsent(
                known(group.key().get(1)),
                key -> new ArrayList<>(Collections.nCopies(months.size(), BigDecimal.ZERO)))
            .set(months.indexOf(group.key().get(0)), group.total());
      }
    }
    return new SpendBy(
        field,
        rows.entrySet().stream()
            .map(row -> new SpendBy.Row(row.getKey(), List.copyOf(row.getValue())))
            .sorted(
                Comparator.comparing(SpendBy.Row::total).reversed().thenComparing(SpendBy.Row::key))
            .toList());
  }

  private static String known(String key) {
    return key.equals(GroupBy.NONE) ? "" : key;
  }

  private List<QueueWaits> waits() {
    List<QueueWaits> all = new ArrayList<>();
    for (RunAnalysis.Group group : waits.groups()) {
      Optional<Long> half = group.queueSeconds(50);
      Optional<Long> ninety = group.queueSeconds(90);
      if (half.isPresent() && ninety.isPresent()) {
        String partition = known(group.key().get(0));
        all.add(new QueueWaits(partition, group.runs(), half.get(), ninety.get()));
      }
    }
    return all;
  }
}
