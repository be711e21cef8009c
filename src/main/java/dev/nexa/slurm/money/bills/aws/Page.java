package dev.nexa.slurm.money.bills.aws;

import dev.nexa.slurm.money.bills.BillReader;
import dev.nexa.slurm.money.bills.CostSource.Charge;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.services.costexplorer.model.Group;
import software.amazon.awssdk.services.costexplorer.model.MetricValue;
import software.amazon.awssdk.services.costexplorer.model.ResultByTime;

/**
 * Reads the charges of one page. A group's keys have the order of the query: first the tag, {@code
 * nexa_run_id$train_20251101_143200}, with nothing after the dollar if the resource lacks the tag;
 * then the service.
 */
final class Page {
  /** Charges as billed, neither averaged over accounts nor amortized over months. */
  static final String METRIC = "UnblendedCost";

  private Page() {}

  static List<Charge> charges(String tag, List<ResultByTime> results) {
    List<Charge> charges = new ArrayList<>();
    for (ResultByTime result : results) {
      LocalDate day = day(result);
      for (Group group : result.groups()) {
        charges.add(charge(tag, day, Boolean.TRUE.equals(result.estimated()), group));
      }
    }
    return charges;
  }

  static LocalDate day(ResultByTime result) {
    String start = result.timePeriod() == null ? null : result.timePeriod().start();
    try {
      return LocalDate.parse(String.valueOf(start));
    } catch (DateTimeException notADay) {
      throw AwsRefusal.strange("no day but '" + start + "'");
    }
  }

  private static Charge charge(String tag, LocalDate day, boolean estimated, Group group) {
    List<String> keys = group.keys();
    MetricValue cost = group.metrics().get(METRIC);
    if (keys.size() != 2 || cost == null || cost.amount() == null) {
      throw AwsRefusal.strange("a group without a tag, a service and an " + METRIC + ": " + keys);
    }
    String currency = String.valueOf(cost.unit());
    if (!currency.matches("[A-Z]{3}")) {
      throw AwsRefusal.strange("no currency but '" + currency + "'");
    }
    String value =
        keys.get(0).startsWith(tag + "$") ? keys.get(0).substring(tag.length() + 1) : keys.get(0);
    BigDecimal amount =
        BillReader.amount(cost.amount())
            .orElseThrow(() -> AwsRefusal.strange("no amount but '" + cost.amount() + "'"));
    return new Charge(day, value, keys.get(1), amount, currency, estimated);
  }
}
