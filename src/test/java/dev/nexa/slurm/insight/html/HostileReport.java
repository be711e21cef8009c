package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.insight.report.BudgetOutlook;
import dev.nexa.slurm.insight.report.CurrencySums;
import dev.nexa.slurm.insight.report.ExplainedFailure;
import dev.nexa.slurm.insight.report.Fact;
import dev.nexa.slurm.insight.report.GpuHours;
import dev.nexa.slurm.insight.report.MonthSums;
import dev.nexa.slurm.insight.report.OutsideLink;
import dev.nexa.slurm.insight.report.Overview;
import dev.nexa.slurm.insight.report.PipelineDetail;
import dev.nexa.slurm.insight.report.ProjectMonth;
import dev.nexa.slurm.insight.report.QueueWaits;
import dev.nexa.slurm.insight.report.ReleaseDetail;
import dev.nexa.slurm.insight.report.Report;
import dev.nexa.slurm.insight.report.ReportedAttempt;
import dev.nexa.slurm.insight.report.ReportedChart;
import dev.nexa.slurm.insight.report.ReportedRun;
import dev.nexa.slurm.insight.report.RunDetail;
import dev.nexa.slurm.insight.report.SpendBy;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.money.forecast.BurnDown;
import dev.nexa.slurm.money.forecast.Forecast;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A report in which each text that a user or a job writes holds a hostile text. */
final class HostileReport {
  static final String RUN = "train_20251101_143200";

  private static final Instant NOW = Instant.parse("2025-11-20T12:00:00Z");
  private static final BigDecimal TEN = new BigDecimal("10.00");

  private final String hostile;
  private final int attempts;
  private final List<String> texts = new ArrayList<>();

  HostileReport(String hostile, int attempts) {
    this.hostile = hostile;
    this.attempts = attempts;
  }

  /** The texts of the report, each with the name of its field in front. */
  List<String> texts() {
    return texts;
  }

  private String text(String field) {
    String text = field + " " + hostile;
    texts.add(text);
    return text;
  }

  Report report() {
    return report(0);
  }

  /** Returns the report with more runs, which completed and have no page. */
  Report report(int more) {
    ReportedRun row = row(RUN, text("name"), "failed", TEN);
    List<ReportedRun> rows = new ArrayList<>(List.of(row));
    for (int i = 0; i < more; i++) {
      BigDecimal cost = TEN.multiply(BigDecimal.valueOf(more - i));
      rows.add(row("more_20251101_14320" + i, "more-" + i, "completed", cost));
    }
    return new Report(
        text("workspace"),
        false,
        NOW,
        Optional.of(text("scope")),
        Optional.of(overview()),
        rows,
        List.of(detail(row)),
        100,
        List.of(pipeline()),
        List.of(release()),
        List.of(text("problem")));
  }

  private ReportedRun row(String id, String name, String state, BigDecimal cost) {
    return new ReportedRun(
        id,
        name,
        state,
        new ReportedRun.Labels(
            text("stage"),
            text("user"),
            text("account"),
            text("project"),
            text("pipeline"),
            text("model"),
            text("dataset"),
            text("partition"),
            text("gpu type"),
            text("cluster")),
        new ReportedRun.Times(
            "2025-11",
            Optional.of(NOW.minusSeconds(7200)),
            Optional.of(NOW.minusSeconds(3600)),
            Optional.of(NOW),
            Optional.of(3600L),
            Optional.of(3600L)),
        "USD",
        Optional.of(cost),
        Optional.of(TEN),
        3600,
        attempts,
        1,
        false);
  }

  private RunDetail detail(ReportedRun row) {
    List<ReportedAttempt> rows = new ArrayList<>();
    String nodes = text("nodes");
    String gpus = text("gpus");
    String exit = text("exit code");
    String state = text("state");
    for (int task = 0; task < attempts; task++) {
      rows.add(
          new ReportedAttempt(
              task,
              "4711_" + task,
              state,
              exit,
              Optional.of(NOW.minusSeconds(7200)),
              Optional.of(NOW.minusSeconds(3600)),
              3600,
              nodes,
              1,
              gpus,
              new BigDecimal("0.100000")));
    }
    return new RunDetail(
        row,
        List.of(new Fact(text("fact"), text("tags"))),
        Optional.of(
            new ExplainedFailure(
                "",
                text("headline"),
                List.of(new Fact("Line", text("log line")), new Fact("Last lines", text("last"))))),
        new RunDetail.Costs(
            List.of(new Fact(text("sum"), "10.00")),
            List.of(
                new CostLine(
                    text("what"),
                    BigDecimal.ONE,
                    text("unit"),
                    BigDecimal.TEN,
                    text("price source"),
                    new Money(TEN, "USD"))),
            rows),
        List.of(new Fact(text("metric"), text("value of a metric"))),
        List.of(new OutsideLink(text("link"), "https://wandb.example/run?a=1&b=2")),
        List.of(
            new ReportedChart(
                text("chart"),
                text("unit of a chart"),
                false,
                List.of(
                    new ReportedChart.Line(
                        text("line of a chart"), false, List.of(1.0, 2.0), List.of(3.0, 4.0))),
                Optional.empty())),
        Optional.empty(),
        List.of(text("input")),
        List.of(new Fact(text("step"), text("what was done"))),
        Optional.of(text("script")),
        Optional.of(text("config")));
  }

  private PipelineDetail pipeline() {
    String first = text("first stage");
    return new PipelineDetail(
        text("pipeline id"),
        text("pipeline name"),
        text("pipeline user"),
        NOW,
        text("pipeline state"),
        Optional.of(TEN),
        TEN,
        "USD",
        List.of(
            new PipelineDetail.Stage(
                first, RUN, Map.of(), "failed", text("why"), Optional.of(TEN), TEN, 2),
            new PipelineDetail.Stage(
                text("second stage"),
                text("its run"),
                Map.of(first, text("afterok")),
                text("its state"),
                "",
                Optional.empty(),
                TEN,
                1)));
  }

  private ReleaseDetail release() {
    return new ReleaseDetail(
        text("release"),
        "0123456789abcdef".repeat(4),
        RUN,
        NOW,
        text("gate"),
        1234,
        true,
        List.of(new Fact("Licence", text("licence"))),
        List.of(
            new ReleaseDetail.Deployment(NOW, "deployed", text("deployed by"), text("reason"))));
  }

  private Overview overview() {
    List<String> months = List.of("2025-10", "2025-11");
    MonthSums october = sums("2025-10");
    MonthSums november = sums("2025-11");
    List<SpendBy> spend = new ArrayList<>();
    for (String field : List.of("project", "model")) {
      spend.add(
          new SpendBy(
              field, List.of(new SpendBy.Row(text("spend by " + field), List.of(TEN, TEN)))));
    }
    Money budget = new Money(new BigDecimal("100.00"), "USD");
    LocalDate first = LocalDate.of(2025, 11, 1);
    BurnDown burnDown =
        new BurnDown(
            budget,
            Forecast.linear(new Money(TEN, "USD"), first, LocalDate.of(2025, 11, 30), NOW),
            List.of(new BurnDown.Day(first, TEN, TEN, TEN, TEN)),
            Optional.empty(),
            Optional.of(first));
    return new Overview(
        months,
        List.of(
            new CurrencySums(
                "USD",
                List.of(october, november),
                List.of(new ProjectMonth(text("project of a month"), november)),
                spend)),
        List.of(new GpuHours("2025-10", 3600, 0), new GpuHours("2025-11", 3600, 1800)),
        List.of(new QueueWaits(text("waits"), 3, 10, 20)),
        List.of(new BudgetOutlook(text("budget"), "2025-11", "warning", TEN, TEN, burnDown)));
  }

  private static MonthSums sums(String month) {
    return new MonthSums(
        month, 1, 1, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, new MonthSums.Expected(TEN, TEN, 1));
  }
}
