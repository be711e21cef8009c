package dev.nexa.slurm.report;

import dev.nexa.slurm.costs.Accuracy;
import dev.nexa.slurm.costs.AttemptCost;
import dev.nexa.slurm.costs.BudgetStatus;
import dev.nexa.slurm.costs.CostSummary;
import dev.nexa.slurm.costs.CostSummary.Group;
import dev.nexa.slurm.costs.Kind;
import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Sums over runs as rows and as JSON. */
public final class CostsText {
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);

  private CostsText() {}

  /** A row for each group; {@code withTotals} adds one for all of each currency. */
  public static Grid grid(CostSummary summary, boolean withTotals) {
    List<String> columns = new ArrayList<>(summary.by().words());
    columns.addAll(List.of("currency", "runs", "runs_failed", "gpu_hours", "cpu_hours"));
    for (Kind kind : Kind.values()) {
      columns.add(kind.word());
    }
    columns.addAll(List.of("cost", "wasted", "credit", "api", "total", "billed"));
    Grid grid = new Grid(columns);
    for (Group group : summary.groups()) {
      grid.row(cells(group.key(), group));
    }
    if (withTotals) {
      List<String> all = new ArrayList<>(List.of("all"));
      while (all.size() < summary.by().words().size()) {
        all.add("");
      }
      for (Group total : summary.totals()) {
        grid.row(cells(all, total));
      }
    }
    return grid;
  }

  private static List<String> cells(List<String> key, Group group) {
    List<String> cells = new ArrayList<>(key);
    cells.add(group.currency());
    cells.add("" + group.runs());
    cells.add("" + group.failed());
    cells.add(hours(group.gpuSeconds()));
    cells.add(hours(group.cpuSeconds()));
    for (Kind kind : Kind.values()) {
      cells.add(group.part(kind).toPlainString());
    }
    cells.add(group.cost().toPlainString());
    cells.add(group.wasted().toPlainString());
    cells.add(group.credit().toPlainString());
    cells.add(group.api().toPlainString());
    cells.add(group.total().toPlainString());
    cells.add(group.billed().toPlainString());
    return cells;
  }

  /** The columns that a person need not see where they are all zero. */
  public static List<String> rareColumns() {
    return List.of(
        "memory", "storage", "egress", "shard", "node", "billing", "other", "credit", "api",
        "billed");
  }

  /** The same as a document. */
  public static JsonObject json(CostSummary summary, List<String> problems) {
    List<JsonObject> groups = new ArrayList<>();
    for (Group group : summary.groups()) {
      groups.add(json(key(summary.by().words(), group.key()), group));
    }
    List<JsonObject> totals = new ArrayList<>();
    summary.totals().forEach(total -> totals.add(json(new JsonObject(), total)));
    List<JsonObject> unmatched = new ArrayList<>();
    summary
        .unmatched()
        .forEach(
            (currency, amount) ->
                unmatched.add(
                    new JsonObject()
                        .with("currency", currency)
                        .with("amount", amount.toPlainString())));
    return new JsonObject()
        .with("schema_version", 1)
        .with("by", summary.by().words())
        .with("groups", groups)
        .with("totals", totals)
        .with("unmatched_bills", unmatched)
        .with("problems", problems);
  }

  private static JsonObject key(List<String> names, List<String> values) {
    JsonObject key = new JsonObject();
    for (int i = 0; i < names.size(); i++) {
      key.with(names.get(i), values.get(i));
    }
    return new JsonObject().with("key", key);
  }

  private static JsonObject json(JsonObject object, Group group) {
    JsonObject breakdown = new JsonObject();
    group.breakdown().forEach((kind, sum) -> breakdown.with(kind.word(), sum.toPlainString()));
    return object
        .with("currency", group.currency())
        .with("runs", group.runs())
        .with("runs_failed", group.failed())
        .with("gpu_hours", hours(group.gpuSeconds()))
        .with("cpu_hours", hours(group.cpuSeconds()))
        .with("cost", group.cost().toPlainString())
        .with("breakdown", breakdown)
        .with("wasted", group.wasted().toPlainString())
        .with("credit", group.credit().toPlainString())
        .with("api", group.api().toPlainString())
        .with("total", group.total().toPlainString())
        .with("billed", group.billed().toPlainString());
  }

  /** A row for each group of an accuracy. */
  public static Grid grid(Accuracy accuracy) {
    List<String> columns = new ArrayList<>(accuracy.by().words());
    columns.addAll(
        List.of(
            "currency",
            "runs",
            "reserved",
            "cost",
            "of_reserved_ratio_p50",
            "of_reserved_ratio_p90",
            "runs_over_reservation",
            "runs_expected",
            "expected",
            "of_expected_ratio",
            "error_ratio_p50",
            "error_ratio_p90"));
    Grid grid = new Grid(columns);
    for (Accuracy.Group group : accuracy.groups()) {
      List<String> cells = new ArrayList<>(group.key());
      cells.add(group.currency());
      cells.add("" + group.runs());
      cells.add(group.reservation().toPlainString());
      cells.add(group.cost().toPlainString());
      cells.add(plain(group.ofReservation(50)));
      cells.add(plain(group.ofReservation(90)));
      cells.add("" + group.over());
      cells.add("" + group.expectedRuns());
      cells.add(group.expectedRuns() == 0 ? "" : group.expected().toPlainString());
      cells.add(plain(group.ofExpected()));
      cells.add(plain(group.error(50)));
      cells.add(plain(group.error(90)));
      grid.row(cells);
    }
    return grid;
  }

  /** The same as a document. */
  public static JsonObject json(Accuracy accuracy, List<String> problems) {
    List<JsonObject> groups = new ArrayList<>();
    for (Accuracy.Group group : accuracy.groups()) {
      groups.add(
          key(accuracy.by().words(), group.key())
              .with("currency", group.currency())
              .with("runs", group.runs())
              .with("reserved", group.reservation().toPlainString())
              .with("cost", group.cost().toPlainString())
              .with("of_reserved_ratio_p50", group.ofReservation(50).orElse(null))
              .with("of_reserved_ratio_p90", group.ofReservation(90).orElse(null))
              .with("runs_over_reservation", group.over())
              .with("runs_expected", group.expectedRuns())
              .with("expected", group.expectedRuns() == 0 ? null : group.expected().toPlainString())
              .with("of_expected_ratio", group.ofExpected().orElse(null))
              .with("error_ratio_p50", group.error(50).orElse(null))
              .with("error_ratio_p90", group.error(90).orElse(null)));
    }
    return new JsonObject()
        .with("schema_version", 1)
        .with("by", accuracy.by().words())
        .with("groups", groups)
        .with("problems", problems);
  }

  /** A row for each budget. */
  public static Grid budgets(List<BudgetStatus> budgets) {
    Grid grid =
        new Grid(
            List.of(
                "scope",
                "name",
                "period",
                "currency",
                "budget",
                "spent",
                "reserved",
                "remaining",
                "used_ratio",
                "runs",
                "runs_of_other_currencies"));
    for (BudgetStatus status : budgets) {
      grid.row(
          List.of(
              status.budget().scope(),
              status.budget().name(),
              status.period(),
              status.budget().amount().currency(),
              status.budget().amount().rounded().amount().toPlainString(),
              status.spent().toPlainString(),
              status.reserved().toPlainString(),
              status.remaining().toPlainString(),
              plain(status.usedRatio()),
              "" + status.runs(),
              "" + status.otherCurrencies()));
    }
    return grid;
  }

  /** The same as a document. */
  public static JsonObject budgetsJson(List<BudgetStatus> budgets, List<String> problems) {
    List<JsonObject> all = new ArrayList<>();
    for (BudgetStatus status : budgets) {
      String name = status.budget().name();
      all.add(
          new JsonObject()
              .with("scope", status.budget().scope())
              .with("name", name.isEmpty() ? null : name)
              .with("period", status.period())
              .with("currency", status.budget().amount().currency())
              .with("budget", status.budget().amount().rounded().amount().toPlainString())
              .with("spent", status.spent().toPlainString())
              .with("reserved", status.reserved().toPlainString())
              .with("remaining", status.remaining().toPlainString())
              .with("used_ratio", status.usedRatio().orElse(null))
              .with("runs", status.runs())
              .with("runs_of_other_currencies", status.otherCurrencies()));
    }
    return new JsonObject()
        .with("schema_version", 1)
        .with("budgets", all)
        .with("problems", problems);
  }

  /**
   * A run's attempts, its tasks and the run itself.
   *
   * @param ofTask whether they are one task's, so that the run's cost is more than their sum
   */
  public static String attempts(JsonObject cost, List<AttemptCost> attempts, boolean ofTask) {
    Grid rows =
        new Grid(List.of("task", "attempt", "job_id", "state", "elapsed_seconds", "nodes", "cost"));
    Map<Long, Integer> counts = new TreeMap<>();
    for (AttemptCost attempt : attempts) {
      rows.row(
          List.of(
              "" + attempt.task(),
              "" + counts.merge(attempt.task(), 1, Integer::sum),
              "" + attempt.jobId(),
              attempt.state(),
              "" + attempt.elapsedSeconds(),
              attempt.nodes(),
              attempt.amount().toPlainString()));
    }
    Grid tasks = new Grid(List.of("task", "attempts", "cost"));
    byTask(attempts)
        .forEach(
            (task, sum) ->
                tasks.row(List.of("" + task, "" + counts.get(task), sum.toPlainString())));
    return rows.table()
        + "\n"
        + tasks.table()
        + "\nthe run "
        + cost.text("run_id")
        + (ofTask ? ", all of its tasks  " : "  ")
        + cost.decimal("total").toPlainString()
        + " "
        + cost.text("currency")
        + "  (each priced line rounded once; attempts are not)\n";
  }

  /** The same as a document. */
  public static JsonObject attemptsJson(JsonObject cost, List<AttemptCost> attempts) {
    List<JsonObject> rows = new ArrayList<>();
    for (AttemptCost attempt : attempts) {
      rows.add(
          new JsonObject()
              .with("task", attempt.task())
              .with("job_id", attempt.jobId())
              .with("state", attempt.state())
              .with("elapsed_seconds", attempt.elapsedSeconds())
              .with("cost", attempt.amount().toPlainString()));
    }
    List<JsonObject> tasks = new ArrayList<>();
    byTask(attempts)
        .forEach(
            (task, sum) ->
                tasks.add(new JsonObject().with("task", task).with("cost", sum.toPlainString())));
    return new JsonObject()
        .with("schema_version", 1)
        .with("run_id", cost.text("run_id"))
        .with("currency", cost.text("currency"))
        .with("cost", cost.decimal("total").toPlainString())
        .with("tasks", tasks)
        .with("attempts", rows);
  }

  private static Map<Long, BigDecimal> byTask(List<AttemptCost> attempts) {
    Map<Long, BigDecimal> sums = new TreeMap<>();
    attempts.forEach(attempt -> sums.merge(attempt.task(), attempt.amount(), BigDecimal::add));
    return sums;
  }

  /** With four decimals. */
  static String hours(long seconds) {
    return BigDecimal.valueOf(seconds).divide(HOUR, 4, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** As it is; nothing for nothing. */
  static String plain(Optional<BigDecimal> number) {
    return number.map(BigDecimal::toPlainString).orElse("");
  }
}
