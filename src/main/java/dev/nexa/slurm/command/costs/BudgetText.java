package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.forecast.BurnDown;
import dev.nexa.slurm.money.forecast.Forecast;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Formats budgets as a table, CSV and JSON. */
final class BudgetText {
  /**
   * A budget and its burn-down.
   *
   * @param burnDown how it is used up, as of now
   */
  record Row(BudgetStatus status, BurnDown burnDown) {
    static List<Row> of(List<BudgetStatus> budgets, Instant now) {
      return budgets.stream().map(status -> new Row(status, status.burnDown(now))).toList();
    }

    @Nullable BigDecimal forecast() {
      return burnDown.forecast().total().map(Money::amount).orElse(null);
    }

    boolean hasForecast() {
      BigDecimal forecast = forecast();
      return forecast != null && forecast.signum() != 0 && !burnDown.forecast().isOver();
    }
  }

  /** One day of a budget. */
  private record DayRow(Row row, BurnDown.Day day) {}

  private static final Columns<Row> COLUMNS =
      new Columns<Row>()
          .text("scope", row -> row.status().budget().scope().word())
          .text("name", BudgetText::name)
          .text("period", row -> row.status().period())
          .text("currency", row -> row.status().budget().amount().currency())
          .money("budget", row -> row.status().budget().amount().rounded().amount())
          .money("spent", row -> row.status().spent())
          .money("reserved", row -> row.status().reserved())
          .rare()
          .money("remaining", row -> row.status().remaining())
          .ratio("used_ratio", row -> row.status().usedRatio().orElse(null))
          .text("state", row -> row.status().standing())
          .number("runs", row -> row.status().runs())
          .number("runs_of_other_currencies", row -> row.status().otherCurrencies())
          .as("IN OTHER CURRENCIES")
          .rare()
          .money("forecast", Row::forecast)
          .rare()
          .text("used_up_on", row -> row.burnDown().usedUp().map(LocalDate::toString).orElse(null))
          .as("USED UP")
          .rare();

  private static final Columns<DayRow> DAYS =
      new Columns<DayRow>()
          .text("scope", day -> day.row().status().budget().scope().word())
          .text("name", day -> name(day.row()))
          .text("date", day -> day.day().date().toString())
          .text("currency", day -> day.row().status().budget().amount().currency())
          .money("spent", day -> day.day().spent())
          .money("so_far", day -> day.day().soFar())
          .money("remaining", day -> day.day().left())
          .money("even", day -> day.day().even());

  private BudgetText() {}

  private static @Nullable String name(Row row) {
    String name = row.status().budget().name();
    return name.isEmpty() ? null : name;
  }

  /** Returns a row for each budget, with every column. */
  static Listing<Row> listing(List<Row> budgets) {
    return COLUMNS.of(budgets);
  }

  /**
   * Returns a row for each budget, with the columns that people read. The currency is left out if
   * all budgets have the same; {@link #sameInAllRows} says it. So is the forecast if all periods
   * are over.
   */
  static Listing<Row> forPeople(List<Row> budgets) {
    Columns<Row> columns = COLUMNS.select("scope", "name", "period");
    if (currencies(budgets).size() > 1) {
      columns = columns.and(COLUMNS.select("currency"));
    }
    columns = columns.and(COLUMNS.select("budget", "spent", "reserved", "remaining"));
    columns = columns.and(COLUMNS.select("used_ratio", "state"));
    if (budgets.stream().anyMatch(Row::hasForecast)) {
      columns = columns.and(COLUMNS.select("forecast", "used_up_on"));
    }
    columns = columns.and(COLUMNS.select("runs_of_other_currencies"));
    return columns.of(budgets).withoutRare();
  }

  /** Returns a line with the currency if all budgets have the same. */
  static String sameInAllRows(List<Row> budgets) {
    Set<String> currencies = currencies(budgets);
    return currencies.size() == 1 ? "in " + currencies.iterator().next() + "\n" : "";
  }

  /** Returns a line about the forecasts; empty if there are none. */
  static String method(List<Row> budgets) {
    if (budgets.stream().noneMatch(Row::hasForecast)) {
      return "";
    }
    String forecast = "FORECAST is for the whole period, if the spending goes on as it did so far";
    return budgets.stream().anyMatch(row -> row.burnDown().usedUp().isPresent())
        ? forecast + "; USED UP is the day on which the budget is used up then.\n"
        : forecast + ".\n";
  }

  /** Returns a row for each day of each budget. */
  static Listing<?> days(List<Row> budgets) {
    return DAYS.of(dayRows(budgets).toList());
  }

  /** Returns a row for each day on which something was spent, for people. */
  static Listing<?> daysForPeople(List<Row> budgets) {
    return DAYS.of(dayRows(budgets).filter(one -> one.day().spent().signum() != 0).toList());
  }

  private static Stream<DayRow> dayRows(List<Row> budgets) {
    return budgets.stream()
        .flatMap(row -> row.burnDown().days().stream().map(day -> new DayRow(row, day)));
  }

  private static Set<String> currencies(List<Row> budgets) {
    return budgets.stream()
        .map(row -> row.status().budget().amount().currency())
        .collect(Collectors.toSet());
  }

  /** Returns a line for each budget of a project, account or user that no run ever named. */
  static List<String> unnamed(List<BudgetStatus> budgets, boolean settled) {
    List<String> notes = new ArrayList<>();
    for (BudgetStatus status : budgets) {
      // Accounting names the account of a run.
      boolean known = settled || status.budget().scope() != BudgetScope.ACCOUNT;
      if (known && !status.isNamed()) {
        notes.add(
            "note: no run so far has the "
                + status.name()
                + ", so its budget counts nothing; check the name in the policy's `budgets`"
                + (status.budget().scope() == BudgetScope.PROJECT
                    ? ": a run has the project of its tag, tags: [project:"
                        + status.budget().name()
                        + "]"
                    : ""));
      }
    }
    return notes;
  }

  /** Returns a note for each budget that an earlier one has the runs and the period of. */
  static List<String> twice(List<BudgetStatus> budgets) {
    List<String> notes = new ArrayList<>();
    Set<List<String>> seen = new HashSet<>();
    for (BudgetStatus status : budgets) {
      Policy.Budget budget = status.budget();
      String runs = budget.runs();
      if (!seen.add(List.of(runs, budget.period(), budget.amount().currency()))) {
        notes.add(
            ("note: the policy has two budgets for %s by %s; both hold, so the "
                    + "smaller amount decides")
                .formatted(runs, budget.period()));
      }
    }
    return notes;
  }

  /**
   * Returns the JSON document of the budgets.
   *
   * @param days whether it has each day
   */
  static JsonObject json(List<Row> budgets, boolean days, SpentAsOf asOf, List<String> problems) {
    return JsonObject.ofVersion(1)
        .with("budgets", COLUMNS.of(budgets).json())
        .with("forecast_method", Forecast.METHOD)
        .withOptional("days", Optional.of(budgets).filter(all -> days).map(all -> days(all).json()))
        .with("as_of", asOf.pass().orElse(null))
        .with("unsettled_runs", asOf.unsettled())
        .with("problems", problems);
  }

  /**
   * How current the spent amounts are. {@code reconcile} writes costs; nothing else does.
   *
   * @param pass up to when the newest pass of {@code reconcile} knows all jobs; empty without a
   *     pass
   * @param unsettled how many runs are not settled
   */
  record SpentAsOf(Optional<Instant> pass, int unsettled) {
    static SpentAsOf of(Workspace workspace) {
      Optional<Instant> pass =
          Heartbeat.read(workspace).map(beat -> beat.behindSince().orElseGet(beat::lastPass));
      return new SpentAsOf(pass, workspace.openRuns().size());
    }

    /** Returns a line for people. */
    String sentence(Instant now) {
      String runs = unsettled + (unsettled == 1 ? " run is" : " runs are") + " not settled";
      if (unsettled == 0) {
        return "SPENT is up to date: all runs of this workspace are settled.\n";
      }
      if (pass.isEmpty()) {
        return "SPENT may be too low: " + runs + ". `nexa-slurm reconcile` brings it up to date.\n";
      }
      Duration age = Duration.between(pass.get(), now);
      String ago =
          age.toSeconds() < 1
              ? "just now"
              : TimeLimit.words(Duration.ofSeconds(age.toSeconds())) + " ago";
      return "SPENT is as of %s (%s): %s. `nexa-slurm reconcile` brings it up to date.\n"
          .formatted(pass.get(), ago, runs);
    }
  }
}
