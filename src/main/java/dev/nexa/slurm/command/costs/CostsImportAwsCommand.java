package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.command.shared.S3Options;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.money.bills.AwsCosts;
import dev.nexa.slurm.money.bills.CostSource.Question;
import dev.nexa.slurm.money.bills.ImportedMonth;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm costs import aws}. */
final class CostsImportAwsCommand extends Subcommand {
  private static final List<String> GRANULARITIES = List.of("monthly", "daily");

  private final OptionSpec from =
      option(
          "--from DATE",
          "The first month to ask for, such as 2025-11-01; the month before this one if not given.");
  private final OptionSpec to =
      option(
          "--to DATE",
          "The first month that is not asked for, such as 2025-12-01; the month after this one if not given.");
  private final OptionSpec tag =
      option("--tag KEY", "The tag that holds the run's id; nexa_run_id if not given.");
  private final OptionSpec granularity =
      option(
          "--granularity daily|monthly",
          "Whether a row is for a day or for a month; monthly if not given.");
  private final OptionSpec profile =
      option("--aws-profile NAME", "A profile of ~/.aws; else the SDK's default chain.");
  private final OptionSpec region =
      option(
          "--region REGION",
          "The region whose Cost Explorer is asked; if not given, us-east-1, which has the costs of all regions.");
  private final OptionSpec endpoint =
      option(
          "--endpoint URL",
          "The URL to ask instead of the region's own URL, such as the URL of a VPC endpoint.");
  private final OptionSpec refresh =
      flag("--refresh", "Asks for all months, also those that can't have changed.");
  private final OptionSpec json = jsonFlag();

  CostsImportAwsCommand() {
    super(
        "aws",
        "Imports the charges that AWS Cost Explorer reports; AWS takes 0.01 USD for each request. Asks only for months that can have changed.",
        "nexa-slurm costs import aws",
        "nexa-slurm costs import aws --from 2025-11-01 --to 2025-12-01 --aws-profile billing");
  }

  @Override
  protected void work() {
    Instant now = Instant.now();
    Question question = question(LocalDate.ofInstant(now, ZoneOffset.UTC));
    ImportAwsCosts.Result result =
        new ImportAwsCosts(existing(), new AwsCosts(), now).run(question, given(refresh));
    if (given(json)) {
      print(document(result, now));
    } else {
      if (result.requests() > 0) {
        CostsImportCommand.print(out(), result.imported());
      }
      result.months().forEach((month, read) -> say(sentence(month, read, now)));
      say(result.requests() + " requests to AWS");
    }
    result.notes().forEach(this::note);
  }

  private static String sentence(YearMonth month, ImportedMonth read, Instant now) {
    String estimated = read.estimated() ? ", of which AWS estimates some" : "";
    return read.at().equals(now)
        ? month + ": read" + estimated
        : month + ": as read on " + read.at() + estimated + "; --refresh asks again";
  }

  private static JsonObject document(ImportAwsCosts.Result result, Instant now) {
    List<JsonObject> months =
        new Columns<Map.Entry<YearMonth, ImportedMonth>>()
            .text("month", month -> month.getKey().toString())
            .text("asked", month -> month.getValue().at().equals(now))
            .text("read", month -> month.getValue().at())
            .text("estimated", month -> month.getValue().estimated())
            .of(List.copyOf(result.months().entrySet()))
            .json();
    return CostsImportCommand.document(result.imported())
        .with("requests", result.requests())
        .with("months", months)
        .with("notes", result.notes());
  }

  private Question question(LocalDate today) {
    LocalDate next = today.withDayOfMonth(1).plusMonths(1);
    LocalDate begin = month("--from", from.getValue(), next.minusMonths(2));
    LocalDate end = month("--to", to.getValue(), next);
    if (end.isAfter(next)) {
      throw invalid("--to: " + next + " is the latest, got " + end, "AWS knows no later costs");
    }
    if (!begin.isBefore(end)) {
      throw invalid(
          "--from: expected a month before " + end + ", got " + begin,
          "--from comes before --to, which is not included");
    }
    return new Question(
        begin,
        end,
        text("--tag", tag.getValue(), "nexa_run_id"),
        daily(),
        value(profile),
        region(),
        endpoint());
  }

  /** Parses a month. Bills are kept by month, so the day must be the first. */
  private static LocalDate month(String option, String typed, LocalDate usual) {
    if (typed == null) {
      return usual;
    }
    try {
      LocalDate day = LocalDate.parse(typed.length() == 7 ? typed + "-01" : typed);
      if (day.getDayOfMonth() == 1) {
        return day;
      }
      throw invalid(
          option + ": bills are kept by the month; expected the first of one, got '" + typed + "'",
          option + " " + day.withDayOfMonth(1));
    } catch (DateTimeException notADay) {
      throw invalid(
          option + ": expected the first day of a month, such as 2025-11-01, got '" + typed + "'",
          option + " " + usual);
    }
  }

  private static String text(String option, String typed, String usual) {
    String text = typed == null ? usual : typed;
    if (text.isBlank()) {
      throw invalid(option + ": expected a name", option + " " + usual);
    }
    return text;
  }

  private boolean daily() {
    String typed = text("--granularity", granularity.getValue(), "monthly");
    if (!GRANULARITIES.contains(typed)) {
      throw invalid(
          "--granularity: expected daily or monthly, got '%s'%s"
              .formatted(typed, Nearest.hint(typed, GRANULARITIES)),
          "--granularity monthly");
    }
    return typed.equals("daily");
  }

  private String region() {
    String typed = text("--region", region.getValue(), "us-east-1");
    if (!typed.matches("[a-z]{2}(-[a-z]+)+-\\d")) {
      throw invalid(
          "--region: expected one such as us-east-1, got '" + typed + "'", "--region us-east-1");
    }
    return typed;
  }

  private Optional<URI> endpoint() {
    Optional<URI> address = value(endpoint).flatMap(S3Options::url);
    if (address.isEmpty() && endpoint.getValue() != null) {
      throw invalid(
          "--endpoint: expected an address such as https://ce.us-east-1.amazonaws.com",
          "without it, that of --region is asked");
    }
    return address;
  }
}
