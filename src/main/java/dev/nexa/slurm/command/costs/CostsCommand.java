package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.command.shared.FormatOption;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.command.shared.SumOptions;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.summary.Accuracy;
import dev.nexa.slurm.money.summary.CostSummary;
import dev.nexa.slurm.money.summary.GroupOrder;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm costs}. */
public final class CostsCommand extends Subcommand {
  private final SumOptions options =
      new SumOptions(this, "month", List.of("table", "json", "csv", "markdown", "focus"));
  private final OptionSpec sort =
      option(
          "--sort COLUMN",
          "Sorts the groups by a column, the largest first: %s; or by a name of --by."
              .formatted(String.join(", ", GroupOrder.names())));
  private final OptionSpec limit =
      option("--limit N", "Shows the first N groups of each currency. The sums count all.");

  public CostsCommand() {
    super(
        "costs",
        "Shows the cost of finished runs: summaries, estimates against actual cost, budgets, bills.",
        "nexa-slurm costs --by project,user --month last",
        "nexa-slurm costs --by project,stage --where 'ended>=2025-11'",
        "nexa-slurm costs --by run --month last --sort cost --limit 10",
        "nexa-slurm costs --month 2025-11 --format focus > november.csv",
        "nexa-slurm costs show latest");
    subcommands(
        new AccuracyCommand(),
        new BudgetCommand(),
        new ShowCommand(),
        new CostsImportCommand(),
        new CloseCommand(),
        new StatementCommand());
  }

  @Override
  protected void work() {
    List<String> problems = new ArrayList<>();
    SummarizeCosts costs = new SummarizeCosts(existing());
    if (options.format().equals("focus")) {
      if (sort.getValue() != null || limit.getValue() != null) {
        throw conflict(
            "--format focus prints all runs in the order of the ledger: it takes no --sort and no --limit",
            "leave --sort and --limit out");
      }
      costs.focus(options.meant(), problems, out()::print);
      problems.forEach(err()::println);
      return;
    }
    CostSummary summary = costs.summarize(options.by(), options.meant(), order(), problems);
    problems.forEach(err()::println);
    options.print(
        () -> table(costs, summary),
        () -> CostsText.listing(summary),
        () ->
            summary.totals().isEmpty()
                ? CostsText.listing(summary).markdown()
                : CostsText.forPeople(summary, costs::unrounded).markdown() + below(summary),
        () -> CostsText.json(summary, problems, Instant.now()));
    costs.unsettled().ifPresent(err()::println);
    String months = options.meant().months().map(MonthRange::toString).orElse("all months");
    summary
        .unmatched()
        .forEach(
            (currency, sum) ->
                note(
                    "%s %s of the imported bills of %s belong to no finished run"
                        .formatted(sum.toPlainString(), currency, months)));
  }

  private String table(SummarizeCosts costs, CostSummary summary) {
    if (summary.totals().isEmpty()) {
      return options.nothing(
          "finished run", () -> costs.unmatched(options.meant(), false), costs.none());
    }
    return CostsText.forPeople(summary, costs::unrounded).table(style())
        + CostsText.sameInAllRows(summary)
        + CostsText.leftOut(summary)
        + CostsText.roundedAway(summary)
        + CostsText.forecastLines(summary, Instant.now())
        + (summary.by().overlaps() ? "a run with several tags counts with each of them\n" : "");
  }

  /** Returns the order of the groups; empty if neither option was typed. */
  private Optional<GroupOrder> order() {
    String typed = limit.getValue();
    String column = sort.getValue();
    if (typed == null && column == null) {
      return Optional.empty();
    }
    if (typed != null && !typed.matches("[1-9]\\d{0,8}")) {
      throw invalid(
          "--limit: expected a number of groups from 1 on, got '" + typed + "'", "--limit 10");
    }
    int most = typed == null ? Integer.MAX_VALUE : Integer.parseInt(typed);
    return Optional.of(GroupOrder.of(Optional.ofNullable(column), most, options.by()));
  }

  /** Returns the paragraph below the Markdown table. */
  private static String below(CostSummary summary) {
    String same =
        CostsText.sameInAllRows(summary)
            + CostsText.leftOut(summary)
            + CostsText.roundedAway(summary);
    return same.isEmpty() ? "" : "\n" + same;
  }

  /** The command {@code costs accuracy}. */
  private static final class AccuracyCommand extends Subcommand {
    private final SumOptions options =
        new SumOptions(this, "model,stage,method", List.of("table", "json", "csv", "markdown"));

    AccuracyCommand() {
      super(
          "accuracy",
          "Compares estimates with the actual cost of completed runs.",
          "nexa-slurm costs accuracy",
          "nexa-slurm costs accuracy --by stage,gpu_type --where 'ended>=30d'");
    }

    @Override
    protected void work() {
      List<String> problems = new ArrayList<>();
      Accuracy accuracy =
          new SummarizeCosts(existing()).accuracy(options.by(), options.meant(), problems);
      problems.forEach(err()::println);
      options.print(
          () ->
              accuracy.groups().isEmpty()
                  ? options.nothing(
                          "completed run",
                          () -> new SummarizeCosts(existing()).unmatched(options.meant(), true),
                          "No completed runs.\n")
                      + "Only completed runs count here; `nexa-slurm costs` counts all.\n"
                  : CostsText.forPeople(accuracy).table(style())
                      + CostsText.sameInAllRows(accuracy),
          () -> CostsText.listing(accuracy),
          () -> CostsText.json(accuracy, problems));
    }
  }

  /** The command {@code costs budget}. */
  private static final class BudgetCommand extends Subcommand {
    private final OptionSpec on =
        option(
            "--on, --month DATE",
            "The period of this day or month, such as 2025-11-30, 2025-11 or `last`, in UTC; today if not given.");
    private final OptionSpec days =
        flag("--days", "Shows each day: what was spent on it, and what was left (burn-down).");
    private final FormatOption format =
        new FormatOption(this, List.of("table", "json", "csv", "markdown"));

    BudgetCommand() {
      super(
          "budget",
          "Shows the policy's budgets: spent, reserved by unfinished runs, left, and a forecast.",
          "nexa-slurm costs budget",
          "nexa-slurm costs budget --days",
          "nexa-slurm costs budget --on 2025-10-31 --format csv");
    }

    @Override
    protected void work() {
      format.format();
      LocalDate day = day();
      Context context = existing();
      List<String> problems = new ArrayList<>();
      BudgetText.SpentAsOf asOf = BudgetText.SpentAsOf.of(context.workspace());
      List<BudgetStatus> budgets = new BudgetUsage(context).on(day, problems);
      problems.forEach(err()::println);
      BudgetText.unnamed(budgets, context.workspace().openRuns().isEmpty()).forEach(err()::println);
      BudgetText.twice(budgets).forEach(err()::println);
      List<BudgetText.Row> rows = BudgetText.Row.of(budgets, Instant.now());
      boolean each = given(days);
      format.print(
          () -> table(rows, asOf, problems),
          () -> each ? BudgetText.days(rows) : BudgetText.listing(rows),
          () -> BudgetText.json(rows, each, asOf, problems));
    }

    private String table(
        List<BudgetText.Row> budgets, BudgetText.SpentAsOf asOf, List<String> problems) {
      if (budgets.isEmpty()) {
        return "The policy has no budgets. The admin writes them under `budgets:` in "
            + (Files.isRegularFile(ConfigReader.ADMIN_POLICY)
                ? ConfigReader.ADMIN_POLICY
                : "configs/policy.yaml")
            + "; `nexa-slurm explain docs/budgets.md` shows how.\n";
      }
      String current =
          problems.isEmpty()
              ? asOf.sentence(Instant.now())
              : "SPENT may be wrong: see above what is not counted.\n";
      return given(days)
          ? BudgetText.daysForPeople(budgets).table(style()) + current
          : BudgetText.forPeople(budgets).table(style())
              + BudgetText.sameInAllRows(budgets)
              + BudgetText.method(budgets)
              + current;
    }

    private LocalDate day() {
      String text = on.getValue();
      if (text == null) {
        return LocalDate.now(ZoneOffset.UTC);
      }
      Optional<LocalDate> month = MonthRange.month(text, Instant.now()).map(one -> one.atDay(1));
      try {
        return month.isPresent() ? month.get() : LocalDate.parse(text);
      } catch (DateTimeException notADay) {
        throw invalid(
            "--on: expected a day such as 2025-11-30, or a month such as 2025-11, this or last, got '"
                + text
                + "'",
            "nexa-slurm costs budget --on last");
      }
    }
  }

  /** The command {@code costs show}. */
  private static final class ShowCommand extends Subcommand {
    private final PositionalParamSpec reference = run();
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "Shows the cost of each attempt and each task of a run.",
          "nexa-slurm costs show latest",
          "nexa-slurm costs show train_20251101_143200 --json");
    }

    @Override
    public Integer call() {
      RunLookup.Found found = new RunLookup(existing().workspace()).find(reference.getValue());
      boolean settled = !found.run().isOpen();
      CostsText.Cost cost =
          RunRecordFile.cost(found.run(), file -> of(file, found.task(), settled));
      return answer(
          json, () -> CostsText.attemptsJson(cost), () -> print(CostsText.attempts(cost, style())));
    }

    /** Returns the cost of a run; for {@code 12345_7}, only that task's attempts. */
    private static CostsText.Cost of(CostFile cost, OptionalInt task, boolean settled) {
      cost.total();
      List<CostFile.Attempt> attempts =
          cost.attempts().stream()
              .filter(one -> task.isEmpty() || one.task() == task.getAsInt())
              .toList();
      return new CostsText.Cost(cost, attempts, task.isPresent(), settled);
    }
  }
}
