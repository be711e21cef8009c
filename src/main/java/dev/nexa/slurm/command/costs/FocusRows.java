package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Csv;
import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.ledger.CostKind;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.YearMonth;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Formats finished runs as rows of the FinOps Open Cost and Usage Specification, FOCUS 1.2.
 *
 * <p>Columns and allowed values follow the specification's pages (repository
 * FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec, tag v1.2, folder specification/columns), and units
 * follow specification/attributes/unit_format.md. A run has a row for each priced kind of resource,
 * a Credit row for its credit, and a row for each record of API usage. All mandatory columns are
 * present, and those optional columns that apply to a cluster. Custom columns begin with {@code
 * x_}.
 */
public final class FocusRows {
  /** The columns, in the order of the specification's index. */
  private static final List<String> COLUMNS =
      List.of(
          """
          BilledCost BillingAccountId BillingAccountName BillingAccountType BillingCurrency
          BillingPeriodEnd BillingPeriodStart ChargeCategory ChargeClass ChargeDescription
          ChargeFrequency ChargePeriodEnd ChargePeriodStart ConsumedQuantity ConsumedUnit
          ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingCategory PricingQuantity
          PricingUnit ProviderName PublisherName ResourceId ResourceName ResourceType
          ServiceCategory ServiceName ServiceSubcategory SkuId SkuPriceId SubAccountId
          SubAccountName SubAccountType Tags x_RunId x_Stage x_Model x_User x_Status
          """
              .strip()
              .split("\\s+"));

  private static final Map<String, Integer> PLACES =
      IntStream.range(0, COLUMNS.size()).boxed().collect(Collectors.toMap(COLUMNS::get, at -> at));

  private static final String ISSUER = "nexa-slurm";

  /** The rest of the time at which a month begins. */
  private static final String BEGIN = "-01T00:00:00Z";

  private static final int MILLION_DIGITS = 6;

  /** The values that all rows share. */
  private static final Row SAME =
      new Row()
          .put("BillingAccountType", "Cluster profile")
          .put("ChargeFrequency", "Usage-Based")
          .put("InvoiceIssuerName", ISSUER)
          .put("ProviderName", ISSUER)
          .put("PublisherName", ISSUER)
          .put("ResourceType", "Run");

  /**
   * The month after each month. They are cached, because parsing one takes longer than the rest of
   * a row.
   */
  private final Map<String, String> nextMonths = new HashMap<>();

  private String next(String month) {
    return nextMonths.computeIfAbsent(month, one -> YearMonth.parse(one).plusMonths(1).toString());
  }

  /** Returns the CSV line of column names. */
  public static String heading() {
    return Csv.line(COLUMNS);
  }

  /**
   * Appends a run's CSV lines.
   *
   * @param api the run's imported API usage, without what its cost has
   */
  public void lines(StringBuilder text, LedgerLine run, List<BillRow> api) {
    Row common = common(run);
    BigDecimal cost = run.cost();
    Map<CostKind, BigDecimal> amounts = run.amounts();
    Map<CostKind, BigDecimal> quantities = run.quantities();
    amounts.forEach(
        (kind, amount) -> usage(common, run, kind, amount, quantities.get(kind)).line(text));
    if (amounts.isEmpty() && cost != null && cost.signum() != 0) {
      usage(common, run, CostKind.OTHER, cost, null).line(text);
    }
    BigDecimal credit = run.credit();
    if (credit != null && credit.signum() != 0) {
      common
          .charge("Credit", credit.negate())
          .text("ChargeDescription", "taken off for the cluster's own faults")
          .put("ServiceCategory", "Compute")
          .text("ServiceName", "Slurm")
          .put("ServiceSubcategory", "Other (Compute)")
          .line(text);
    }
    api.forEach(row -> apiUsage(common, run, row).line(text));
  }

  private static Row usage(
      Row common, LedgerLine run, CostKind kind, BigDecimal amount, @Nullable BigDecimal quantity) {
    String gpu = run.gpuType();
    String what = kind == CostKind.GPU && gpu != null ? "gpu:" + gpu : kind.word();
    String category = kind.focusCategory();
    boolean tokens = kind == CostKind.API_TOKENS;
    Row row =
        common
            .charge("Usage", amount)
            .text("ChargeDescription", what + " of " + run.runId())
            .put("ServiceCategory", category)
            .put("ServiceSubcategory", tokens ? "Generative AI" : "Other (" + category + ")")
            .text("ServiceName", tokens ? "API tokens" : "Slurm " + kind.word())
            .put("PricingCategory", "Standard");
    if (quantity != null && kind != CostKind.OTHER) {
      String sku = (run.priceBook() == null ? "" : run.priceBook() + "/") + what;
      row.put("PricingQuantity", decimal(quantity))
          .put("PricingUnit", kind.focusUnit())
          .put(
              "ConsumedQuantity",
              decimal(tokens ? quantity.movePointRight(MILLION_DIGITS) : quantity))
          .put("ConsumedUnit", tokens ? "Tokens" : kind.focusUnit())
          .text("SkuId", sku)
          .text("SkuPriceId", sku);
    }
    return row;
  }

  private Row apiUsage(Row common, LedgerLine run, BillRow usage) {
    BigDecimal tokens = usage.tokens().orElse(BigDecimal.ZERO);
    String month = usage.start().substring(0, 7);
    return common
        .charge("Usage", usage.amount())
        .period(month, next(month))
        .text("BillingCurrency", usage.currency())
        .text("ChargePeriodStart", usage.start())
        .put("ChargePeriodEnd", Instant.parse(usage.start()).plusSeconds(1).toString())
        .text("ChargeDescription", usage.what() + " tokens of " + run.runId())
        .put("ServiceCategory", "AI and Machine Learning")
        .put("ServiceSubcategory", "Generative AI")
        .text("ServiceName", usage.what())
        .put("PricingCategory", "Standard")
        .put("PricingQuantity", decimal(tokens.movePointLeft(MILLION_DIGITS)))
        .put("PricingUnit", CostKind.API_TOKENS.focusUnit())
        .put("ConsumedQuantity", decimal(tokens))
        .put("ConsumedUnit", "Tokens")
        .text("SkuId", usage.what())
        .text("SkuPriceId", usage.what());
  }

  /** Returns the values that all rows of a run share. */
  private Row common(LedgerLine run) {
    String cluster = orEmpty(run.cluster());
    Instant started = run.started();
    Instant ended = run.ended();
    Instant begin = started == null ? Instant.parse(run.month() + BEGIN) : started;
    return new Row(SAME)
        .text("BillingAccountId", cluster.isEmpty() ? "unknown" : cluster)
        .text("BillingAccountName", cluster)
        .text("BillingCurrency", orEmpty(run.currency()))
        .period(run.month(), next(run.month()))
        .text("ChargePeriodStart", begin.toString())
        .put("ChargePeriodEnd", (ended == null ? begin.plusSeconds(1) : ended).toString())
        .text("ResourceId", run.runId())
        .text("ResourceName", run.runId())
        .text("SubAccountId", orEmpty(run.account()))
        .text("SubAccountName", orEmpty(run.account()))
        .put("SubAccountType", run.account() == null ? "" : "Slurm account")
        .text("Tags", tags(run.tags()))
        .text("x_RunId", run.runId())
        .text("x_Stage", orEmpty(run.stage()))
        .text("x_Model", orEmpty(run.model()))
        .text("x_User", orEmpty(run.user()))
        .text("x_Status", orEmpty(run.status()));
  }

  /**
   * Returns tags as a JSON object: {@code key:value} becomes a member, a tag without a value gets
   * true. If a key occurs twice, its first value is used.
   */
  private static String tags(List<String> tags) {
    JsonObject object = new JsonObject();
    for (String tag : tags) {
      int colon = tag.indexOf(':');
      String key = colon < 0 ? tag : tag.substring(0, colon);
      if (!object.members().containsKey(key)) {
        object.with(key, colon < 0 ? (Object) true : tag.substring(colon + 1));
      }
    }
    return Json.compact(object);
  }

  /**
   * Formats a number with a decimal point, because some readers reject a whole number as a decimal.
   */
  private static String decimal(BigDecimal number) {
    return (number.scale() < 1 ? number.setScale(1) : number).toPlainString();
  }

  private static String orEmpty(@Nullable String word) {
    return word == null ? "" : word;
  }

  /** A row's values in the order of the columns, in CSV form. A missing value is empty. */
  private static final class Row {
    private final String[] cells;

    Row() {
      cells = new String[COLUMNS.size()];
      Arrays.fill(cells, "");
    }

    Row(Row of) {
      cells = of.cells.clone();
    }

    /** Sets a number, a time or a word of the specification; none of these needs quotes. */
    Row put(String column, String value) {
      cells[Objects.requireNonNull(PLACES.get(column), column)] = value;
      return this;
    }

    /** Sets a text that may contain any character. */
    Row text(String column, String value) {
      return put(column, Csv.cell(value));
    }

    /** Returns a copy of the row with this charge category and amount. */
    Row charge(String category, BigDecimal amount) {
      String money = decimal(amount);
      return new Row(this)
          .put("ChargeCategory", category)
          .put("BilledCost", money)
          .put("ContractedCost", money)
          .put("EffectiveCost", money)
          .put("ListCost", money);
    }

    /** Sets the billing period: from one month's begin to the next one's. */
    Row period(String month, String next) {
      return put("BillingPeriodStart", month + BEGIN).put("BillingPeriodEnd", next + BEGIN);
    }

    void line(StringBuilder text) {
      text.append(String.join(",", cells)).append('\n');
    }
  }
}
