package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Hours;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.money.forecast.Forecast;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.summary.Accuracy;
import dev.nexa.slurm.money.summary.CostSummary;
import dev.nexa.slurm.money.summary.CostSummary.Group;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.CostFile.Attempt;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** Formats sums over runs as tables and as JSON. */
public final class CostsText {
  /**
   * A cost file and the cost of each attempt in it.
   *
   * @param ofTask whether the attempts are of one task only
   * @param settled whether the run has ended and its cost is final
   */
  record Cost(CostFile file, List<Attempt> attempts, boolean ofTask, boolean settled) {}

  private static final Columns<Group> COUNTS =
      new Columns<Group>()
          .text("currency", Group::currency)
          .number("runs", Group::runs)
          .number("runs_failed", Group::failed)
          .hours("gpu_hours", group -> Hours.of(group.gpuSeconds()))
          .hours("cpu_hours", group -> Hours.of(group.cpuSeconds()));

  private static final Columns<Group> COST = new Columns<Group>().money("cost", Group::cost);

  private static final Columns<Group> SUMS =
      new Columns<Group>()
          .money("wasted", Group::wasted)
          .money("credit", Group::credit)
          .money("api", Group::api)
          .money("total", Group::total)
          .money("billed", Group::billed);

  private static final Columns<Group> ESTIMATES =
      new Columns<Group>()
          .money("estimated", Group::estimated)
          .money("difference", Group::difference)
          .text("period", Group::period);

  private static final Columns<Accuracy.Group> ACCURACY =
      new Columns<Accuracy.Group>()
          .text("currency", Accuracy.Group::currency)
          .number("runs", Accuracy.Group::runs)
          .money("reserved", Accuracy.Group::reservation)
          .as("MAXIMUM")
          .money("cost", Accuracy.Group::cost)
          .ratio("of_reserved_ratio_p50", group -> group.ofReservation(50).orElse(null))
          .as("OF MAX P50")
          .rare()
          .ratio("of_reserved_ratio_p90", group -> group.ofReservation(90).orElse(null))
          .as("OF MAX P90")
          .rare()
          .number("runs_over_reservation", Accuracy.Group::over)
          .as("OVER MAX")
          .rare()
          .number("runs_expected", Accuracy.Group::expectedRuns)
          .as("PREDICTED")
          .rare()
          .money("expected", group -> group.expectedRuns() == 0 ? null : group.expected())
          .rare()
          .money(
              "expected_difference",
              group -> group.expectedRuns() == 0 ? null : group.beyondExpected())
          .as("DIFFERENCE")
          .rare()
          .ratio("of_expected_ratio", group -> group.ofExpected().orElse(null))
          .rare()
          .ratio("error_ratio_p50", group -> group.error(50).orElse(null))
          .rare()
          .ratio("error_ratio_p90", group -> group.error(90).orElse(null))
          .rare();

  private static final Columns<Numbered> ATTEMPTS =
      new Columns<Numbered>()
          .text("task", attempt -> attempt.cost.task())
          .number("attempt", Numbered::number)
          .text("job_id", attempt -> attempt.cost.jobId())
          .text("state", attempt -> attempt.cost.state())
          .seconds("elapsed_seconds", attempt -> attempt.cost.elapsedSeconds())
          .text("nodes", attempt -> attempt.cost.held().nodes())
          .money("cost", attempt -> attempt.cost.amount());

  private static final Columns<Task> TASKS =
      new Columns<Task>()
          .text("task", Task::task)
          .number("attempts", Task::attempts)
          .money("cost", Task::cost);

  private static final Columns<Tokens> TOKENS =
      new Columns<Tokens>()
          .text("tokens", Tokens::what)
          .number("count", Tokens::count)
          .money("million_price", row -> row.line().unitPrice())
          .as("PRICE OF 10^6")
          .money("cost", row -> row.line().amount().amount());

  private static final Columns<CostLine> LINES =
      new Columns<CostLine>()
          .text("what", CostLine::what)
          .text("quantity", line -> line.quantity().stripTrailingZeros().toPlainString())
          .right()
          .text("unit", CostLine::unit)
          .money("price", CostLine::unitPrice)
          .money("cost", line -> line.amount().amount());

  private CostsText() {}

  /**
   * Tokens of one kind.
   *
   * @param what {@code input} or {@code output}; {@code unknown input} or {@code unknown output}
   *     for the most tokens of requests whose answers never arrived
   */
  private record Tokens(String what, CostLine line) {
    static List<Tokens> of(CostFile cost) {
      List<Tokens> rows = new ArrayList<>();
      cost.tokenLines().forEach(line -> rows.add(new Tokens(kind(line), line)));
      cost.unknownTokenLines().forEach(line -> rows.add(new Tokens("unknown " + kind(line), line)));
      return rows;
    }

    /** The lines of tokens end with the kind. */
    private static String kind(CostLine line) {
      return line.what().substring(line.what().lastIndexOf(' ') + 1);
    }

    /** Returns the tokens; the line has millions. */
    BigDecimal count() {
      return line.quantity().movePointRight(6).setScale(0, RoundingMode.HALF_EVEN);
    }
  }

  /** One attempt of a task, and which of the task's attempts it is. */
  private record Numbered(int number, Attempt cost) {}

  private record Task(long task, int attempts, BigDecimal cost) {}

  /** Returns a row for each group, with every column. */
  public static Listing<Group> listing(CostSummary summary) {
    Columns<Group> kinds = new Columns<>();
    for (CostKind kind : CostKind.values()) {
      kinds = kinds.money(kind.word(), group -> group.part(kind));
    }
    return named(summary)
        .and(COUNTS)
        .and(kinds)
        .and(COST)
        .and(SUMS)
        .and(ESTIMATES)
        .of(summary.groups());
  }

  /** Returns the columns of the groups, with the name of each run in groups by run. */
  private static Columns<Group> named(CostSummary summary) {
    Columns<Group> columns = summary.by().columns(Group::key);
    return summary.by().words().contains("run")
        ? columns.text("name", Group::name).rare()
        : columns;
  }

  /**
   * Returns a row for each group and for the total of each currency, with the columns that people
   * read. A column that is zero in all rows is left out. The period and the currency are left out
   * if all rows have the same one; {@link #sameInAllRows} returns them.
   *
   * @param unrounded the cost of a run before rounding, by its id and its cost
   */
  public static Listing<Group> forPeople(
      CostSummary summary, BiFunction<String, Money, BigDecimal> unrounded) {
    List<Group> rows = new ArrayList<>(summary.groups());
    rows.addAll(summary.totals());
    Columns<Group> columns = named(summary);
    if (!samePeriod(summary) && !summary.by().words().contains("month")) {
      columns = columns.text("period", Group::period);
    }
    if (!sameCurrency(summary)) {
      columns = columns.and(COUNTS.select("currency"));
    }
    boolean gpus = summary.totals().stream().anyMatch(total -> total.gpuSeconds() > 0);
    columns =
        columns
            .number("runs", Group::runs)
            .number("runs_failed", Group::failed)
            .as("FAILED")
            .rare()
            .and(COUNTS.select(gpus ? "gpu_hours" : "cpu_hours"))
            .text("cost", group -> cost(group, summary, unrounded))
            .right()
            .money("wasted", Group::wasted)
            .rare()
            .money("credit", Group::credit)
            .rare()
            .money("api", Group::api)
            .rare();
    if (summary.totals().stream()
        .anyMatch(total -> total.credit().signum() != 0 || total.api().signum() != 0)) {
      columns = columns.money("total", Group::total);
    }
    return columns
        .money("billed", Group::billed)
        .rare()
        .money("estimated", Group::estimated)
        .as("MAXIMUM")
        .rare()
        .money("difference", Group::difference)
        .rare()
        .of(rows)
        .withoutRare();
  }

  /** Returns a line with the period and the currency, if all rows have the same. */
  public static String sameInAllRows(CostSummary summary) {
    List<String> same = new ArrayList<>();
    if (samePeriod(summary) && !summary.by().words().contains("month")) {
      same.add(summary.totals().get(0).period().replace("/", " to "));
    }
    if (sameCurrency(summary)) {
      same.add("in " + summary.totals().get(0).currency());
    }
    return same.isEmpty() ? "" : String.join(", ", same) + "\n";
  }

  /**
   * Returns the forecast of the current month in each currency: if the groups are months, or if all
   * runs ended in it. Empty otherwise.
   */
  static List<Forecast> forecasts(CostSummary summary, Instant now) {
    YearMonth current = YearMonth.from(now.atOffset(ZoneOffset.UTC));
    boolean byMonth = summary.by().words().equals(List.of("month"));
    List<Forecast> forecasts = new ArrayList<>();
    for (Group group : byMonth ? summary.groups() : summary.totals()) {
      if (group.period().equals(current.toString()) && group.currency().matches("[A-Z]{3}")) {
        Money spent = new Money(group.total(), group.currency());
        forecasts.add(Forecast.linear(spent, current.atDay(1), current.atEndOfMonth(), now));
      }
    }
    return forecasts;
  }

  /** Returns a line for each forecast. */
  static String forecastLines(CostSummary summary, Instant now) {
    // Next to "<0.01" a forecast of 0 is no figure.
    return forecasts(summary, now).stream()
        .filter(one -> one.total().filter(total -> total.amount().signum() > 0).isPresent())
        .map(
            one ->
                "%s: %s so far, %s by its end if the spending goes on like this\n"
                    .formatted(YearMonth.from(one.first()), one.spent(), one.total().get()))
        .collect(Collectors.joining());
  }

  private static JsonObject forecastJson(Forecast forecast) {
    return new JsonObject()
        .with("month", YearMonth.from(forecast.first()).toString())
        .with("currency", forecast.spent().currency())
        .with("spent", forecast.spent().amount().toPlainString())
        .with("forecast", forecast.total().map(t -> t.amount().toPlainString()).orElse(null))
        .with("method", Forecast.METHOD);
  }

  /** Returns a line about the groups that the table leaves out; empty if it has all. */
  public static String leftOut(CostSummary summary) {
    int left = summary.leftOut();
    return left == 0
        ? ""
        : "%d %s not shown, because of --limit; the row `all` counts all groups\n"
            .formatted(left, left == 1 ? "more group is" : "more groups are");
  }

  private static boolean sameCurrency(CostSummary summary) {
    return summary.totals().size() == 1 && summary.totals().get(0).currency().matches("[A-Z]{3}");
  }

  private static boolean samePeriod(CostSummary summary) {
    String period = summary.totals().get(0).period();
    List<Group> all = new ArrayList<>(summary.groups());
    all.addAll(summary.totals());
    return all.stream().allMatch(group -> group.period().equals(period));
  }

  /**
   * Returns the cost in the ledger; {@code <0.01} for one run with amounts that were rounded to 0.
   * The ledger has no exact amounts: each rounded amount was half a unit at most. The cost file of
   * a listed run has them. {@link #roundedAway} counts them below the sum of several runs.
   */
  private static String cost(
      Group group, CostSummary summary, BiFunction<String, Money, BigDecimal> unrounded) {
    if (group.runs() != 1 || group.roundedAway() == 0) {
      return money(group).amount().toPlainString();
    }
    int run = summary.by().words().indexOf("run");
    List<String> key = group.key().isEmpty() ? summary.groups().get(0).key() : group.key();
    BigDecimal exact = run < 0 ? BigDecimal.ZERO : unrounded.apply(key.get(run), money(group));
    BigDecimal most =
        new BigDecimal(BigInteger.valueOf(group.roundedAway() * 5L), group.cost().scale() + 1);
    return money(group).cell(exact.signum() > 0 ? exact : most);
  }

  /** Returns a line about the amounts that the sums count as 0; empty if there are none. */
  static String roundedAway(CostSummary summary) {
    StringBuilder lines = new StringBuilder();
    for (Group total : summary.totals()) {
      if (total.runs() > 1 && total.roundedAway() > 0 && total.cost().signum() == 0) {
        lines.append(total.roundedAway()).append(" amounts of ").append(total.runs());
        lines.append(" runs were rounded to ").append(money(total)).append('\n');
      }
    }
    return lines.toString();
  }

  private static Money money(Group group) {
    return new Money(group.cost(), group.currency());
  }

  /** Returns the JSON document of a summary. */
  public static JsonObject json(CostSummary summary, List<String> problems, Instant now) {
    List<JsonObject> groups =
        summary.groups().stream()
            .map(group -> json(summary.by().json(group, Group::key), group))
            .toList();
    List<JsonObject> totals =
        summary.totals().stream().map(total -> json(new JsonObject(), total)).toList();
    return JsonObject.ofVersion(1)
        .with("by", summary.by().words())
        .with("groups", groups)
        .with("totals", totals)
        .with("unmatched_bills", amounts(summary.unmatched()))
        .with("forecasts", forecasts(summary, now).stream().map(CostsText::forecastJson).toList())
        .with("problems", problems);
  }

  /** Returns the amounts of a document, one for each currency. */
  static List<JsonObject> amounts(Map<String, BigDecimal> sums) {
    return new Columns<Map.Entry<String, BigDecimal>>()
        .text("currency", Map.Entry::getKey)
        .money("amount", Map.Entry::getValue)
        .of(List.copyOf(sums.entrySet()))
        .json();
  }

  private static JsonObject json(JsonObject object, Group group) {
    JsonObject breakdown = new JsonObject();
    group.breakdown().forEach((kind, sum) -> breakdown.with(kind.word(), sum.toPlainString()));
    COST.addTo(COUNTS.addTo(object, group), group).with("breakdown", breakdown);
    return ESTIMATES.addTo(SUMS.addTo(object, group), group);
  }

  /** Returns a row for each group of an accuracy report. */
  public static Listing<Accuracy.Group> listing(Accuracy accuracy) {
    return accuracy.by().columns(Accuracy.Group::key).and(ACCURACY).of(accuracy.groups());
  }

  /** Returns the rows for people: without the columns that hold nothing. */
  public static Listing<Accuracy.Group> forPeople(Accuracy accuracy) {
    Columns<Accuracy.Group> columns = new Columns<>();
    for (String word : accuracy.by().words()) {
      columns = columns.and(accuracy.by().columns(Accuracy.Group::key).select(word)).rare();
    }
    if (currencies(accuracy).size() > 1) {
      columns = columns.and(ACCURACY.select("currency"));
    }
    String names =
        "runs reserved cost of_reserved_ratio_p50 runs_over_reservation expected"
            + " expected_difference of_expected_ratio error_ratio_p50 runs_expected"
            + " of_reserved_ratio_p90 error_ratio_p90";
    return columns.and(ACCURACY.select(names.split(" ", -1))).of(accuracy.groups()).withoutRare();
  }

  /** Returns a line with the currency if all groups have the same. */
  public static String sameInAllRows(Accuracy accuracy) {
    Set<String> currencies = currencies(accuracy);
    return currencies.size() == 1 ? "in " + currencies.iterator().next() + "\n" : "";
  }

  private static Set<String> currencies(Accuracy accuracy) {
    return accuracy.groups().stream().map(Accuracy.Group::currency).collect(Collectors.toSet());
  }

  /** Returns the JSON document of an accuracy report. */
  public static JsonObject json(Accuracy accuracy, List<String> problems) {
    List<JsonObject> groups =
        accuracy.groups().stream()
            .map(group -> ACCURACY.addTo(accuracy.by().json(group, Accuracy.Group::key), group))
            .toList();
    return JsonObject.ofVersion(1)
        .with("by", accuracy.by().words())
        .with("groups", groups)
        .with("problems", problems);
  }

  /**
   * Returns tables of a run's attempts, its tasks and its priced lines, and its total. If the run
   * is not settled, the text says so: its cost is not known yet.
   */
  public static String attempts(Cost shown, TableStyle style) {
    CostFile cost = shown.file();
    String open =
        shown.settled()
            ? ""
            : ("%s is not settled, so this is not its final cost. `nexa-slurm status %s` shows the"
                    + " cost so far; `nexa-slurm reconcile` settles it after its end.\n")
                .formatted(cost.runId(), cost.runId());
    if (!shown.settled() && shown.attempts().isEmpty()) {
      return open;
    }
    List<CostLine> priced =
        cost.lines().stream()
            .filter(line -> !line.unit().equals("million_tokens"))
            .filter(line -> line.quantity().signum() != 0)
            .toList();
    return ATTEMPTS.of(numbered(shown.attempts())).table(style)
        + "\n"
        + TASKS.of(tasks(shown.attempts())).table(style)
        + (priced.isEmpty() ? "" : "\n" + LINES.of(priced).table(style))
        + cost.tokens().map(tokens -> tokens(cost, tokens, style)).orElse("")
        + "\nthe run "
        + cost.runId()
        + (shown.ofTask() ? ", all of its tasks  " : "  ")
        + cost.total().words(CostLine.unrounded(cost.lines()))
        + "  (the sum of the priced lines; each line is rounded once, attempts are not)\n"
        + open;
  }

  private static String tokens(CostFile cost, Money tokens, TableStyle style) {
    List<Tokens> rows = Tokens.of(cost);
    long unknown = cost.unknownRequests();
    return "\nAPI tokens  "
        + tokens
        + (cost.lacksTokens()
            ? "  (incomplete: `limits` in cost_" + cost.runId() + ".json says why)\n"
            : "\n")
        + (rows.isEmpty() ? "" : TOKENS.of(rows).table(style))
        + (unknown == 0
            ? ""
            : "The answers of "
                + Plural.of(unknown, "request")
                + " never arrived. The cost does not include their tokens. "
                + (cost.unknownTokenLines().isEmpty()
                    ? "No task reports the most that the API can charge for them.\n"
                    : "The unknown tokens are the most that the API can charge for them.\n"));
  }

  /** Returns the JSON document of a run's attempts and tasks. */
  public static JsonObject attemptsJson(Cost shown) {
    CostFile cost = shown.file();
    List<Attempt> attempts = shown.attempts();
    return JsonObject.ofVersion(1)
        .with("run_id", cost.runId())
        .with("settled", shown.settled())
        .with("currency", cost.currency())
        .with("cost", cost.total().amount().toPlainString())
        .withOptional("api_tokens", cost.tokens().map(tokens -> tokens.amount().toPlainString()))
        .withOptional(
            "api_token_lines", cost.tokens().map(tokens -> TOKENS.of(Tokens.of(cost)).json()))
        .with("lines", CostLine.toJson(cost.lines()))
        .with("tasks", TASKS.select("task", "cost").of(tasks(attempts)).json())
        .with(
            "attempts",
            ATTEMPTS
                .select("task", "job_id", "state", "elapsed_seconds", "cost")
                .of(numbered(attempts))
                .json());
  }

  private static List<Numbered> numbered(List<Attempt> attempts) {
    Map<Long, Integer> counts = new TreeMap<>();
    return attempts.stream()
        .map(attempt -> new Numbered(counts.merge(attempt.task(), 1, Integer::sum), attempt))
        .toList();
  }

  private static List<Task> tasks(List<Attempt> attempts) {
    Map<Long, Task> tasks = new TreeMap<>();
    for (Attempt attempt : attempts) {
      tasks.merge(
          attempt.task(),
          new Task(attempt.task(), 1, attempt.amount()),
          (one, more) -> new Task(one.task, one.attempts + 1, one.cost.add(more.cost)));
    }
    return List.copyOf(tasks.values());
  }
}
