package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.insight.report.BudgetOutlook;
import dev.nexa.slurm.insight.report.CurrencySums;
import dev.nexa.slurm.insight.report.GpuHours;
import dev.nexa.slurm.insight.report.MonthSums;
import dev.nexa.slurm.insight.report.Overview;
import dev.nexa.slurm.insight.report.ProjectMonth;
import dev.nexa.slurm.insight.report.QueueWaits;
import dev.nexa.slurm.insight.report.Report;
import dev.nexa.slurm.insight.report.ReportedChart;
import dev.nexa.slurm.insight.report.ReportedRun;
import dev.nexa.slurm.insight.report.RunDetail;
import dev.nexa.slurm.insight.report.SpendBy;
import dev.nexa.slurm.money.forecast.Forecast;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Writes the first page: what was spent, what went wrong, and what needs a person. */
final class FirstPage {
  static final String ID = "overview";

  private static final int MOST_SERIES = 6;
  private static final int MOST_ROWS = 10;
  private static final int MOST_FAILURES = 6;
  private static final int MOST_FINANCE_ROWS = 200;
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);

  private final Report report;
  private final Overview overview;
  private final String month;

  FirstPage(Report report, Overview overview) {
    this.report = report;
    this.overview = overview;
    month = overview.months().get(overview.months().size() - 1);
  }

  Tag tag() {
    Tag page = PageParts.page(ID, "Overview", ReportPage.about(report)).add(tiles(), attention());
    overview.currencies().forEach(sums -> page.add(spend(sums), months(sums), finance(sums)));
    if (overview.currencies().isEmpty()) {
      page.add(
          PageParts.card("Spend")
              .add(
                  PageParts.note(
                      "No finished run in these twelve months. `nexa-slurm reconcile` settles runs"
                          + " that have ended.")));
    }
    if (!overview.budgets().isEmpty()) {
      page.add(budgets());
    }
    page.add(Tag.styled("div", "two").add(gpu(), waits()));
    for (CurrencySums sums : overview.currencies()) {
      if (sums.months().stream().anyMatch(one -> one.api().signum() + one.tokens().signum() > 0)) {
        page.add(api(sums));
      }
    }
    return page;
  }

  private Tag tiles() {
    Tag tiles = Tag.styled("dl", "tiles");
    String name = Figures.wholeMonth(month);
    for (CurrencySums sums : overview.currencies()) {
      MonthSums last = sums.last();
      MonthSums before = sums.months().get(sums.months().size() - 2);
      String currency = sums.currency();
      String earlier = Figures.wholeMonth(before.month()) + ": ";
      tiles.add(
          PageParts.tile(
              "Spent in " + name,
              Figures.money(last.total(), currency),
              currency,
              earlier + Figures.money(before.total(), currency) + forecast(last, currency)));
    }
    int runs = overview.currencies().stream().mapToInt(sums -> sums.last().runs()).sum();
    int failed = failed();
    tiles.add(
        PageParts.tile(
            "Runs ended in " + name,
            Figures.count(runs),
            "",
            failed == 0 ? "all completed" : Figures.count(failed) + " did not complete"));
    GpuHours gpu = overview.gpu().get(overview.gpu().size() - 1);
    tiles.add(
        PageParts.tile(
            "GPU-hours in " + name,
            Figures.hours(gpu.seconds()),
            "h",
            Figures.percent(BigDecimal.valueOf(gpu.wasted()), BigDecimal.valueOf(gpu.seconds()))
                + " without a result"));
    long open = report.runs().stream().filter(ReportedRun::open).count();
    tiles.add(
        PageParts.tile(
            "Unfinished runs",
            Figures.count(open),
            "",
            open == 0 ? "all runs are settled" : "not in the sums yet"));
    return tiles;
  }

  /** Returns what the month will cost at its pace, in words; empty for a month that is over. */
  private String forecast(MonthSums last, String currency) {
    YearMonth whole = YearMonth.parse(month);
    Forecast forecast =
        Forecast.linear(
            new Money(last.total(), currency), whole.atDay(1), whole.atEndOfMonth(), report.made());
    return forecast.isOver() || forecast.total().isEmpty()
        ? ""
        : "; at this pace " + Figures.money(forecast.total().get().amount(), currency);
  }

  /** Returns the idle time of the GPUs in the runs that were sampled and have a page. */
  private Optional<String> idle() {
    BigDecimal seconds = BigDecimal.ZERO;
    BigDecimal idle = BigDecimal.ZERO;
    int runs = 0;
    for (RunDetail detail : report.details()) {
      if (detail.idleShare().isPresent()) {
        BigDecimal own = BigDecimal.valueOf(detail.run().gpuSeconds());
        seconds = seconds.add(own);
        idle = idle.add(own.multiply(detail.idleShare().get()));
        runs++;
      }
    }
    return runs == 0
        ? Optional.empty()
        : Optional.of(
            ("In the newest %s runs that were sampled, the GPUs were idle for %s of "
                    + "their time: %s GPU-hours.")
                .formatted(runs, Figures.percent(idle, seconds), Figures.hours(idle.longValue())));
  }

  private Tag attention() {
    Tag list = Tag.styled("ul", "attention");
    for (BudgetOutlook budget : overview.budgets()) {
      boolean exceeded = budget.standing().equals("exceeded");
      boolean ahead = budget.burnDown().expectedOn().isPresent();
      if (!exceeded && !ahead && budget.standing().equals("ok")) {
        continue;
      }
      Tag item = Tag.styled("li", exceeded ? "" : "warn");
      item.text(
          "The budget %s of %s%s%s of %s %s are spent or reserved."
              .formatted(
                  budget.name(),
                  budget.period(),
                  exceeded ? " is exceeded: " : " needs a look: ",
                  Figures.money(budget.spent().add(budget.reserved()), budget.currency()),
                  Figures.money(budget.amount(), budget.currency()),
                  budget.currency()));
      budget
          .burnDown()
          .expectedOn()
          .map(day -> why("At the pace of this period it is used up on " + day + "."))
          .ifPresent(item::add);
      list.add(item);
    }
    int failures = 0;
    int unexplained = failed();
    for (RunDetail detail : report.details()) {
      if (detail.failure().isPresent() && detail.run().times().month().equals(month)) {
        unexplained--;
      }
      for (ReportedChart chart : detail.charts()) {
        if (chart.gap().isPresent()) {
          list.add(
              Tag.styled("li", "warn")
                  .add(
                      Tag.link(detail.run().id(), "#run/" + detail.run().id()),
                      why("Its " + chart.title() + " is " + chart.gap().get().words() + ".")));
        }
      }
      if (detail.failure().isPresent() && ++failures <= MOST_FAILURES) {
        ReportedRun run = detail.run();
        list.add(
            Tag.of("li")
                .add(
                    Tag.link(run.id(), "#run/" + run.id()),
                    Tag.of("span", " " + (run.name().isEmpty() ? "" : run.name() + ", ")),
                    PageParts.badge(run.state()),
                    Tag.of("span", " " + Figures.time(run.times().ended()))
                        .text(run.cost().map(cost -> ", " + inCurrency(cost, run)).orElse("")),
                    why(detail.failure().get().headline()).with("dir", "auto")));
      }
    }
    if (failures > MOST_FAILURES) {
      list.add(
          Tag.of("li")
              .add(
                  Tag.link("all runs", "#runs"),
                  Tag.of("span", ": " + (failures - MOST_FAILURES) + " older runs failed, too")));
    }
    if (unexplained > 0) {
      String runs = (failures == 0 ? " run" : " other run") + (unexplained == 1 ? "" : "s");
      list.add(
          Tag.of("li")
              .add(
                  Tag.link(Figures.count(unexplained) + runs, "#runs"),
                  Tag.of("span", " of " + Figures.wholeMonth(month) + " did not complete"),
                  why(
                      "This report does not say why: it explains the newest "
                          + report.mostDetails()
                          + " runs, and no imported ones.")));
    }
    return PageParts.card("Needs a look")
        .add(
            list.isEmpty()
                ? PageParts.note(
                    "No run of "
                        + Figures.wholeMonth(month)
                        + " failed, and no budget is near its end.")
                : list);
  }

  private static Tag why(String text) {
    return Tag.styled("span", "why").text(text);
  }

  private static String inCurrency(BigDecimal amount, ReportedRun run) {
    return Figures.money(amount, run.currency()) + " " + run.currency();
  }

  /** Returns how many runs of the month did not complete. */
  private int failed() {
    return overview.currencies().stream().mapToInt(sums -> sums.last().failed()).sum();
  }

  /** Returns the spend by each field, as panels that a choice shows. */
  private Tag spend(CurrencySums sums) {
    Tag tabs = Tag.styled("fieldset", "tabs").add(Tag.of("legend", "Spend by"));
    List<Tag> panels = new ArrayList<>();
    boolean first = true;
    for (SpendBy by : sums.spend()) {
      String id = "spend-" + sums.currency().toLowerCase(Locale.ROOT) + "-" + by.field();
      Tag choice =
          Tag.of("input")
              .with("type", "radio")
              .with("name", "spend-" + sums.currency())
              .with("id", id);
      if (first) {
        choice.with("checked");
      }
      first = false;
      tabs.add(choice, Tag.of("label", by.field()).with("for", id));
      panels.add(Tag.styled("div", "panel").add(spendBy(sums, by)));
    }
    return PageParts.card("Spend over time, in " + sums.currency())
        .add(tabs.add(panels))
        .add(
            PageParts.note(
                "Cost minus credits, plus imported API usage, in the month in which a run ended: the sums of"
                    + " `nexa-slurm costs`."));
  }

  private Tag spendBy(CurrencySums sums, SpendBy by) {
    String currency = sums.currency();
    List<SpendBy.Row> rows = by.rows();
    List<Charts.Series> series = new ArrayList<>();
    int single = rows.size() <= MOST_SERIES + 1 ? rows.size() : MOST_SERIES;
    for (int i = 0; i < single; i++) {
      SpendBy.Row row = rows.get(i);
      series.add(new Charts.Series(name(row.key()), "s" + Math.min(i, MOST_SERIES), row.amounts()));
    }
    if (single < rows.size()) {
      List<BigDecimal> others = sum(rows.subList(single, rows.size()));
      series.add(new Charts.Series("others", "s" + MOST_SERIES, others));
    }
    String title = "Spend by " + by.field() + " in each of twelve months";
    Tag chart = Charts.stacked(title, overview.months(), series, currency);
    Table table =
        new Table("Spend by " + by.field(), currency)
            .breaking()
            .words(by.field())
            .numbers(Figures.briefMonth(month), Figures.briefMonth(before()), "12 months");
    int shown = rows.size() <= MOST_ROWS + 1 ? rows.size() : MOST_ROWS;
    for (int i = 0; i < shown; i++) {
      table.row(cells(key(i, by.field(), rows.get(i).key()), rows.get(i), currency));
    }
    if (shown < rows.size()) {
      SpendBy.Row others = new SpendBy.Row("", sum(rows.subList(shown, rows.size())));
      String count = Figures.count(rows.size() - shown) + " others";
      table.row(cells(Tag.of("span").add(swatch(MOST_SERIES)).text(count), others, currency));
    }
    table.sum(cells(Tag.of("span", "All"), new SpendBy.Row("", sum(rows)), currency));
    return Tag.of("div")
        .add(
            PageParts.pair(PageParts.figure("Each month's spend, " + currency, chart), table.tag()),
            Tag.of("details")
                .add(Tag.of("summary", "Each month by " + by.field() + ", as a table"))
                .add(eachMonth(by, currency)));
  }

  private String before() {
    return overview.months().get(overview.months().size() - 2);
  }

  private static Object[] cells(Tag name, SpendBy.Row row, String currency) {
    return new Object[] {name, row.last(), Figures.money(row.before(), currency), row.total()};
  }

  private static String name(String key) {
    return key.isEmpty() ? "(none)" : key;
  }

  private static Tag swatch(int i) {
    return Tag.styled("svg", "key")
        .with("viewBox", "0 0 10 10")
        .with("aria-hidden", "true")
        .add(Charts.rect(0, 0, 10, 10, "s" + Math.min(i, MOST_SERIES)));
  }

  private static Tag key(int i, String field, String key) {
    Tag cell = Tag.of("span").add(swatch(i));
    boolean filters = !key.isEmpty() && !field.equals("model") && !field.equals("pipeline");
    return filters
        ? cell.add(
            Tag.link(key, "#runs?" + field + "=" + URLEncoder.encode(key, StandardCharsets.UTF_8)))
        : cell.text(name(key));
  }

  private List<BigDecimal> sum(List<SpendBy.Row> rows) {
    return IntStream.range(0, overview.months().size())
        .mapToObj(i -> rows.stream().map(row -> row.amounts().get(i)))
        .map(amounts -> amounts.reduce(BigDecimal.ZERO, BigDecimal::add))
        .toList();
  }

  private Tag eachMonth(SpendBy by, String currency) {
    Table table =
        new Table("Spend by " + by.field() + " and month", currency).breaking().words(by.field());
    overview.months().forEach(table::numbers);
    for (SpendBy.Row row : by.rows().subList(0, Math.min(MOST_FINANCE_ROWS, by.rows().size()))) {
      table.row(Stream.concat(Stream.of(name(row.key())), row.amounts().stream()).toArray());
    }
    return table.tag();
  }

  /** Returns the months as finance asks for them, and the estimates beside what was spent. */
  private Tag months(CurrencySums sums) {
    String currency = sums.currency();
    Table table =
        new Table("Months", currency)
            .words("Period")
            .numbers("Runs", "Reserved", "Cost", "Credits", "API", "Total", "Billed", "Wasted");
    newestFirst(sums.months(), one -> one.runs() > 0 || one.billed().signum() != 0)
        .forEach(
            one ->
                table.row(
                    one.month(),
                    one.runs(),
                    one.reserved(),
                    one.cost(),
                    one.credit().negate(),
                    one.api(),
                    one.total(),
                    one.billed(),
                    one.wasted()));
    Tag estimates =
        Charts.grouped(
            "Reserved, expected and actual cost of each month",
            overview.months(),
            List.of(
                series("reserved", "s6", sums, MonthSums::reserved),
                series("actual", "s0", sums, one -> one.reserved().add(one.difference()))),
            currency);
    Table accuracy =
        new Table("Expected and actual cost", currency)
            .words("Period")
            .numbers("Runs", "Expected", "Actual", "Difference", "Actual/expected");
    for (MonthSums one : newestFirst(sums.months(), one -> one.expected().runs() > 0)) {
      BigDecimal expected = one.expected().estimate();
      BigDecimal actual = one.expected().actual();
      accuracy.row(
          one.month(),
          one.expected().runs(),
          expected,
          actual,
          actual.subtract(expected),
          Figures.percent(actual, expected));
    }
    return Tag.of("div")
        .add(
            PageParts.card("Month by month, in " + currency).add(table.tag()),
            PageParts.card("Estimate against actual, in " + currency)
                .add(
                    PageParts.pair(
                        PageParts.figure(
                            "Reserved at submit (grey) and spent (blue), runs with an estimate",
                            estimates),
                        accuracy.isEmpty()
                            ? PageParts.note(
                                "No run of these months had an expected cost: an estimate needs earlier runs"
                                    + " like it, or a model.")
                            : accuracy.tag())));
  }

  private static <T> List<T> newestFirst(List<T> months, Predicate<T> shown) {
    List<T> chosen = new ArrayList<>(months);
    chosen.removeIf(shown.negate());
    Collections.reverse(chosen);
    return chosen;
  }

  private static Charts.Series series(
      String name, String style, CurrencySums sums, Function<MonthSums, BigDecimal> value) {
    return new Charts.Series(name, style, sums.months().stream().map(value).toList());
  }

  /** Returns this month and the month before by project, with a period column. */
  private static Tag finance(CurrencySums sums) {
    Table table =
        new Table("Projects of this month and last month", sums.currency())
            .breaking()
            .words("Project", "Period")
            .numbers(
                "Runs", "Reserved", "Actual", "Difference", "Credits", "API", "Total", "Wasted");
    for (ProjectMonth one : sums.projects()) {
      String project = DataScript.shortened(name(one.project()), RunsPage.LONGEST_WORD);
      table.row(finance(project, one.sums()));
    }
    for (int back = 1; back <= 2; back++) {
      table.sum(finance("All projects", sums.months().get(sums.months().size() - back)));
    }
    return PageParts.card("This month and last month by project, in " + sums.currency())
        .add(
            table.tag(),
            PageParts.note(
                "Reserved is the most that a run could cost by its estimate. Difference is negative for money that"
                    + " was reserved and not spent; storage, egress and energy are never reserved and do not count in it."));
  }

  private static Object[] finance(String name, MonthSums one) {
    return new Object[] {
      name,
      one.month(),
      one.runs(),
      one.reserved(),
      one.cost(),
      one.difference(),
      one.credit().negate(),
      one.api(),
      one.total(),
      one.wasted()
    };
  }

  private Tag budgets() {
    Table table =
        new Table("Budgets")
            .words("Budget", "Period", "State", "Used")
            .numbers("Spent", "Reserved", "Left", "Of", "Forecast");
    Tag charts = Tag.styled("div", "two");
    for (BudgetOutlook budget : overview.budgets()) {
      BigDecimal used = budget.spent().add(budget.reserved());
      String state =
          switch (budget.standing()) {
            case "ok" -> "state good";
            case "warning" -> "state warn";
            default -> "state bad";
          };
      double share =
          budget.amount().signum() == 0
              ? 1
              : used.divide(budget.amount(), 4, RoundingMode.HALF_EVEN).doubleValue();
      table.row(
          budget.name(),
          budget.period(),
          Tag.styled("span", state).text(budget.standing()),
          Tag.of("span")
              .add(Charts.cellBar(share, 1))
              .text(" " + Figures.percent(used, budget.amount())),
          Figures.money(budget.spent(), budget.currency()),
          Figures.money(budget.reserved(), budget.currency()),
          Figures.money(budget.remaining(), budget.currency()),
          Figures.money(budget.amount(), budget.currency()) + " " + budget.currency(),
          Figures.money(
              budget.burnDown().forecast().total().map(Money::amount), budget.currency()));
      charts.add(
          PageParts.figure(
              budget.name() + ", " + budget.period() + ", " + budget.currency(),
              Charts.burnDown(budget)));
    }
    return PageParts.card("Budgets")
        .add(
            table.tag(),
            PageParts.note(
                "Forecast: what the period will cost if the spending goes on as it did so far."),
            charts);
  }

  private Tag gpu() {
    Table table =
        new Table("GPU-hours").words("Period").numbers("Used", "Without a result", "Share");
    for (GpuHours one : newestFirst(overview.gpu(), one -> one.seconds() > 0)) {
      table.row(
          one.month(),
          Figures.hours(one.used()),
          Figures.hours(one.wasted()),
          Figures.percent(BigDecimal.valueOf(one.wasted()), BigDecimal.valueOf(one.seconds())));
    }
    Tag card = PageParts.card("GPU-hours");
    if (table.isEmpty()) {
      return card.add(PageParts.note("No run of these months had GPUs."));
    }
    return card.add(
        PageParts.figure(
            "Attempts that completed (blue) and attempts without a result (orange), hours",
            Charts.stacked(
                "GPU-hours of each month",
                overview.months(),
                List.of(
                    hours("used", "s0", GpuHours::used),
                    hours("without a result", "s1", GpuHours::wasted)),
                "hours")),
        PageParts.note(
            idle().orElse("No run with a page sampled its GPUs, so their idle time is not known.")),
        table.tag());
  }

  private Charts.Series hours(String name, String style, Function<GpuHours, Long> seconds) {
    return new Charts.Series(
        name,
        style,
        overview.gpu().stream()
            .map(one -> BigDecimal.valueOf(seconds.apply(one)))
            .map(all -> all.divide(HOUR, 1, RoundingMode.HALF_EVEN))
            .toList());
  }

  private Tag waits() {
    Table table =
        new Table("Time from submission to start, twelve months")
            .words("Partition")
            .numbers("Runs", "Half waited up to", "90 % up to")
            .words("Compared");
    long most = overview.waits().stream().mapToLong(QueueWaits::ninety).reduce(1, Math::max);
    for (QueueWaits one : overview.waits()) {
      table.row(
          name(one.partition()),
          one.runs(),
          Figures.duration(one.half()),
          Figures.duration(one.ninety()),
          Charts.cellBar((double) one.half() / most, (double) one.ninety() / most));
    }
    Tag card = PageParts.card("Queue waits");
    return table.isEmpty()
        ? card.add(PageParts.note("No run of these months has started."))
        : card.add(table.tag())
            .add(PageParts.note("A stage of a pipeline also waits for the stages before it."));
  }

  private Tag api(CurrencySums sums) {
    Table table =
        new Table("API usage", sums.currency())
            .words("Period")
            .numbers("Tokens in the cost of runs", "Imported besides", "Together");
    newestFirst(sums.months(), one -> one.tokens().signum() != 0 || one.api().signum() != 0)
        .forEach(
            one -> table.row(one.month(), one.tokens(), one.api(), one.tokens().add(one.api())));
    Tag chart =
        Charts.stacked(
            "API usage of each month",
            overview.months(),
            List.of(
                series("tokens in the cost of runs", "s0", sums, MonthSums::tokens),
                series("imported besides", "s1", sums, MonthSums::api)),
            sums.currency());
    return PageParts.card("API usage, in " + sums.currency())
        .add(
            PageParts.pair(
                PageParts.figure(
                    "Tokens that runs paid for (blue), imported usage (orange)", chart),
                table.tag()));
  }
}
