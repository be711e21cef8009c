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
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private enum Column {
    BILLED_COST("BilledCost"),
    BILLING_ACCOUNT_ID("BillingAccountId"),
    BILLING_ACCOUNT_NAME("BillingAccountName"),
    BILLING_ACCOUNT_TYPE("BillingAccountType"),
    BILLING_CURRENCY("BillingCurrency"),
    BILLING_PERIOD_END("BillingPeriodEnd"),
    BILLING_PERIOD_START("BillingPeriodStart"),
    CHARGE_CATEGORY("ChargeCategory"),
    CHARGE_CLASS("ChargeClass"),
    CHARGE_DESCRIPTION("ChargeDescription"),
    CHARGE_FREQUENCY("ChargeFrequency"),
    CHARGE_PERIOD_END("ChargePeriodEnd"),
    CHARGE_PERIOD_START("ChargePeriodStart"),
    CONSUMED_QUANTITY("ConsumedQuantity"),
    CONSUMED_UNIT("ConsumedUnit"),
    CONTRACTED_COST("ContractedCost"),
    EFFECTIVE_COST("EffectiveCost"),
    INVOICE_ISSUER_NAME("InvoiceIssuerName"),
    LIST_COST("ListCost"),
    PRICING_CATEGORY("PricingCategory"),
    PRICING_QUANTITY("PricingQuantity"),
    PRICING_UNIT("PricingUnit"),
    PROVIDER_NAME("ProviderName"),
    PUBLISHER_NAME("PublisherName"),
    RESOURCE_ID("ResourceId"),
    RESOURCE_NAME("ResourceName"),
    RESOURCE_TYPE("ResourceType"),
    SERVICE_CATEGORY("ServiceCategory"),
    SERVICE_NAME("ServiceName"),
    SERVICE_SUBCATEGORY("ServiceSubcategory"),
    SKU_ID("SkuId"),
    SKU_PRICE_ID("SkuPriceId"),
    SUB_ACCOUNT_ID("SubAccountId"),
    SUB_ACCOUNT_NAME("SubAccountName"),
    SUB_ACCOUNT_TYPE("SubAccountType"),
    TAGS("Tags"),
    X_RUN_ID("x_RunId"),
    X_STAGE("x_Stage"),
    X_MODEL("x_Model"),
    X_USER("x_User"),
    X_STATUS("x_Status");

    private final String heading;

    Column(String heading) {
      this.heading = heading;
    }
  }

  private static final String ISSUER = "nexa-slurm";
  private static final int MILLION_DIGITS = 6;

  /** The values that all rows share. */
  private static final Row SAME =
      new Row()
          .put(Column.BILLING_ACCOUNT_TYPE, "Cluster profile")
          .put(Column.CHARGE_FREQUENCY, "Usage-Based")
          .put(Column.INVOICE_ISSUER_NAME, ISSUER)
          .put(Column.PROVIDER_NAME, ISSUER)
          .put(Column.PUBLISHER_NAME, ISSUER)
          .put(Column.RESOURCE_TYPE, "Run");

  /**
   * Billing periods by month. They are cached, because parsing one takes longer than the rest of a
   * row.
   */
  private final Map<String, Period> periods = new HashMap<>();

  /** A billing period, as its two columns print it. */
  private record Period(String start, String end) {}

  private Period period(String month) {
    return periods.computeIfAbsent(
        month,
        first ->
            new Period(
                first + "-01T00:00:00Z", YearMonth.parse(first).plusMonths(1) + "-01T00:00:00Z"));
  }

  /** Returns the CSV line of column names. */
  public static String heading() {
    return Csv.line(Arrays.stream(Column.values()).map(column -> column.heading).toList());
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
          .text(Column.CHARGE_DESCRIPTION, "taken off for the cluster's own faults")
          .put(Column.SERVICE_CATEGORY, "Compute")
          .text(Column.SERVICE_NAME, "Slurm")
          .put(Column.SERVICE_SUBCATEGORY, "Other (Compute)")
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
            .text(Column.CHARGE_DESCRIPTION, what + " of " + run.runId())
            .put(Column.SERVICE_CATEGORY, category)
            .put(Column.SERVICE_SUBCATEGORY, tokens ? "Generative AI" : "Other (" + category + ")")
            .text(Column.SERVICE_NAME, tokens ? "API tokens" : "Slurm " + kind.word())
            .put(Column.PRICING_CATEGORY, "Standard");
    if (quantity != null && kind != CostKind.OTHER) {
      String sku = (run.priceBook() == null ? "" : run.priceBook() + "/") + what;
      row.put(Column.PRICING_QUANTITY, decimal(quantity))
          .put(Column.PRICING_UNIT, kind.focusUnit())
          .put(
              Column.CONSUMED_QUANTITY,
              decimal(tokens ? quantity.movePointRight(MILLION_DIGITS) : quantity))
          .put(Column.CONSUMED_UNIT, tokens ? "Tokens" : kind.focusUnit())
          .text(Column.SKU_ID, sku)
          .text(Column.SKU_PRICE_ID, sku);
    }
    return row;
  }

  private Row apiUsage(Row common, LedgerLine run, BillRow usage) {
    BigDecimal tokens = usage.tokens().orElse(BigDecimal.ZERO);
    return common
        .charge("Usage", usage.amount())
        .period(period(usage.start().substring(0, 7)))
        .text(Column.BILLING_CURRENCY, usage.currency())
        .text(Column.CHARGE_PERIOD_START, usage.start())
        .put(Column.CHARGE_PERIOD_END, Instant.parse(usage.start()).plusSeconds(1).toString())
        .text(Column.CHARGE_DESCRIPTION, usage.what() + " tokens of " + run.runId())
        .put(Column.SERVICE_CATEGORY, "AI and Machine Learning")
        .put(Column.SERVICE_SUBCATEGORY, "Generative AI")
        .text(Column.SERVICE_NAME, usage.what())
        .put(Column.PRICING_CATEGORY, "Standard")
        .put(Column.PRICING_QUANTITY, decimal(tokens.movePointLeft(MILLION_DIGITS)))
        .put(Column.PRICING_UNIT, CostKind.API_TOKENS.focusUnit())
        .put(Column.CONSUMED_QUANTITY, decimal(tokens))
        .put(Column.CONSUMED_UNIT, "Tokens")
        .text(Column.SKU_ID, usage.what())
        .text(Column.SKU_PRICE_ID, usage.what());
  }

  /** Returns the values that all rows of a run share. */
  private Row common(LedgerLine run) {
    String cluster = orEmpty(run.cluster());
    Instant started = run.started();
    Instant ended = run.ended();
    Instant begin = started == null ? Instant.parse(run.month() + "-01T00:00:00Z") : started;
    return new Row(SAME)
        .text(Column.BILLING_ACCOUNT_ID, cluster.isEmpty() ? "unknown" : cluster)
        .text(Column.BILLING_ACCOUNT_NAME, cluster)
        .text(Column.BILLING_CURRENCY, orEmpty(run.currency()))
        .period(period(run.month()))
        .text(Column.CHARGE_PERIOD_START, begin.toString())
        .put(Column.CHARGE_PERIOD_END, (ended == null ? begin.plusSeconds(1) : ended).toString())
        .text(Column.RESOURCE_ID, run.runId())
        .text(Column.RESOURCE_NAME, run.runId())
        .text(Column.SUB_ACCOUNT_ID, orEmpty(run.account()))
        .text(Column.SUB_ACCOUNT_NAME, orEmpty(run.account()))
        .put(Column.SUB_ACCOUNT_TYPE, run.account() == null ? "" : "Slurm account")
        .text(Column.TAGS, tags(run.tags()))
        .text(Column.X_RUN_ID, run.runId())
        .text(Column.X_STAGE, orEmpty(run.stage()))
        .text(Column.X_MODEL, orEmpty(run.model()))
        .text(Column.X_USER, orEmpty(run.user()))
        .text(Column.X_STATUS, orEmpty(run.status()));
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

  /** A row's values by column, in CSV form. A missing value is empty. */
  private static final class Row {
    private static final Column[] COLUMNS = Column.values();

    private final EnumMap<Column, String> cells;

    Row() {
      cells = new EnumMap<>(Column.class);
    }

    Row(Row of) {
      cells = of.cells.clone();
    }

    /** Sets a number, a time or a word of the specification; none of these needs quotes. */
    Row put(Column column, String value) {
      cells.put(column, value);
      return this;
    }

    /** Sets a text that may contain any character. */
    Row text(Column column, String value) {
      return put(column, Csv.cell(value));
    }

    /** Returns a copy of the row with this charge category and amount. */
    Row charge(String category, BigDecimal amount) {
      String money = decimal(amount);
      return new Row(this)
          .put(Column.CHARGE_CATEGORY, category)
          .put(Column.BILLED_COST, money)
          .put(Column.CONTRACTED_COST, money)
          .put(Column.EFFECTIVE_COST, money)
          .put(Column.LIST_COST, money);
    }

    Row period(Period period) {
      return put(Column.BILLING_PERIOD_START, period.start)
          .put(Column.BILLING_PERIOD_END, period.end);
    }

    void line(StringBuilder text) {
      char separator = 0;
      for (Column column : COLUMNS) {
        if (separator != 0) {
          text.append(separator);
        }
        separator = ',';
        String cell = cells.get(column);
        if (cell != null) {
          text.append(cell);
        }
      }
      text.append('\n');
    }
  }
}
