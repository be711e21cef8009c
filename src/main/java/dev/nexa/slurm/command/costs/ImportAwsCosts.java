package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.bills.CostSource;
import dev.nexa.slurm.money.bills.CostSource.Charge;
import dev.nexa.slurm.money.bills.CostSource.Question;
import dev.nexa.slurm.money.bills.ImportedMonth;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Implements {@code costs import aws}: imports whole months from AWS Cost Explorer, and queries a
 * month again only if it can have changed.
 *
 * @param source answers the queries
 * @param now the current time, which decides whether a month can still change
 */
public record ImportAwsCosts(Context context, CostSource source, Instant now) {
  /** The name under which these bills are kept. */
  private static final String PROVIDER = "aws";

  /**
   * The result of an import.
   *
   * @param imported the rows of the months that were queried
   * @param months all requested months; one whose time is {@code now} was queried
   * @param requests the number of API requests, which AWS charges at 0.01 USD each
   * @param notes lines for the user
   */
  public record Result(
      Bills.Imported imported,
      Map<YearMonth, ImportedMonth> months,
      int requests,
      List<String> notes) {}

  /**
   * Imports the requested months that can have changed; adjacent months share a query.
   *
   * @param refresh whether to query all requested months
   */
  public Result run(Question meant, boolean refresh) {
    Map<YearMonth, ImportedMonth> months = new TreeMap<>();
    List<Question> questions = questions(meant, refresh, months);
    Set<YearMonth> asked = new HashSet<>();
    Set<YearMonth> estimated = new HashSet<>();
    List<Charge> charges = new ArrayList<>();
    int requests = 0;
    for (Question question : questions) {
      CostSource.Answer answer = source.ask(question);
      charges.addAll(answer.charges());
      estimated.addAll(answer.estimated());
      requests += answer.requests();
      months(question).forEach(asked::add);
    }
    Bills.Imported imported =
        new Bills(context.workspace())
            .keepMonths(
                PROVIDER,
                rows(meant, charges),
                asked.stream().map(YearMonth::toString).collect(Collectors.toSet()));
    for (YearMonth month : asked) {
      ImportedMonth read = read(meant, estimated.contains(month));
      read.keep(context.workspace(), PROVIDER, month);
      months.put(month, read);
    }
    return new Result(imported, months, requests, notes(meant, charges, imported));
  }

  /**
   * Returns the queries for months that can have changed; adds the other months to {@code known}.
   */
  private List<Question> questions(
      Question meant, boolean refresh, Map<YearMonth, ImportedMonth> known) {
    List<Question> spans = new ArrayList<>();
    LocalDate begun = meant.to();
    for (YearMonth month : months(meant)) {
      Optional<ImportedMonth> held =
          ImportedMonth.of(context.workspace(), PROVIDER, month)
              .filter(old -> !refresh && old.asks(read(meant, false)) && old.holds(month, now));
      if (held.isPresent()) {
        known.put(month, held.get());
        if (begun.isBefore(month.atDay(1))) {
          spans.add(span(meant, begun, month.atDay(1)));
        }
        begun = meant.to();
      } else if (begun.equals(meant.to())) {
        begun = month.atDay(1);
      }
    }
    if (begun.isBefore(meant.to())) {
      spans.add(span(meant, begun, meant.to()));
    }
    return spans;
  }

  private static Question span(Question meant, LocalDate from, LocalDate to) {
    return new Question(
        from, to, meant.tag(), meant.daily(), meant.profile(), meant.region(), meant.endpoint());
  }

  private static List<YearMonth> months(Question question) {
    return Stream.iterate(YearMonth.from(question.from()), month -> month.plusMonths(1))
        .takeWhile(month -> month.atDay(1).isBefore(question.to()))
        .toList();
  }

  private ImportedMonth read(Question question, boolean estimated) {
    String granularity = question.daily() ? "daily" : "monthly";
    return new ImportedMonth(now, estimated, question.tag(), granularity, question.profile());
  }

  /** Makes rows with ids from their content; a second row with the same content gets another id. */
  private static List<BillRow> rows(Question meant, List<Charge> charges) {
    List<BillRow> rows = new ArrayList<>();
    Map<String, Integer> seen = new HashMap<>();
    String of = (meant.daily() ? " day " : " month ") + meant.tag() + "$";
    for (Charge charge : charges) {
      String name = charge.day() + of + charge.tagValue() + " " + charge.service();
      name += " " + charge.currency();
      int before = seen.merge(name, 1, Integer::sum) - 1;
      rows.add(
          new BillRow(
              before == 0 ? name : name + " " + before,
              RunId.parse(charge.tagValue()).map(RunId::value).orElse(""),
              PROVIDER,
              charge.day().toString(),
              charge.service(),
              charge.amount(),
              charge.currency(),
              charge.estimated(),
              Optional.empty(),
              Optional.empty()));
    }
    return rows;
  }

  private static List<String> notes(Question meant, List<Charge> charges, Bills.Imported imported) {
    if (charges.isEmpty() || imported.unmatched() < charges.size()) {
      return List.of();
    }
    String tag = meant.tag();
    for (Charge charge : charges) {
      if (!charge.tagValue().isEmpty()) {
        return List.of(
            "the tag '%s' holds no run id, but such as '%s': is it another one? --tag KEY"
                .formatted(tag, charge.tagValue()));
      }
    }
    return List.of(
        "nothing of it has the tag '"
            + tag
            + "': is it active as a cost allocation tag? Only what is used from then on counts",
        "aws ce update-cost-allocation-tags-status --cost-allocation-tags-status TagKey="
            + tag
            + ",Status=Active; then a day later: --refresh");
  }
}
