package dev.nexa.slurm.report;

import dev.nexa.slurm.costs.BillRow;
import dev.nexa.slurm.costs.Kind;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finished runs as rows of the FinOps Open Cost and Usage Specification, FOCUS 1.2
 * (FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec, tag v1.2, specification/columns; allowed values of
 * ServiceCategory, ServiceSubcategory, ChargeCategory, ChargeFrequency and PricingCategory from the
 * pages of those columns; units from specification/attributes/unit_format.md). A row for each
 * priced kind of resource of a run, a Credit row for what is taken off, a row for each piece of API
 * usage. All mandatory columns are there; of the others those that a cluster has. Custom ones begin
 * with {@code x_}.
 */
public final class FocusRows {
  /** In the order of the specification's index. */
  private static final List<String> COLUMNS =
      List.of(
          "BilledCost",
          "BillingAccountId",
          "BillingAccountName",
          "BillingAccountType",
          "BillingCurrency",
          "BillingPeriodEnd",
          "BillingPeriodStart",
          "ChargeCategory",
          "ChargeClass",
          "ChargeDescription",
          "ChargeFrequency",
          "ChargePeriodEnd",
          "ChargePeriodStart",
          "ConsumedQuantity",
          "ConsumedUnit",
          "ContractedCost",
          "EffectiveCost",
          "InvoiceIssuerName",
          "ListCost",
          "PricingCategory",
          "PricingQuantity",
          "PricingUnit",
          "ProviderName",
          "PublisherName",
          "ResourceId",
          "ResourceName",
          "ResourceType",
          "ServiceCategory",
          "ServiceName",
          "ServiceSubcategory",
          "SkuId",
          "SkuPriceId",
          "SubAccountId",
          "SubAccountName",
          "SubAccountType",
          "Tags",
          "x_RunId",
          "x_Stage",
          "x_Model",
          "x_User",
          "x_Status");

  private static final String ISSUER = "nexa-slurm";
  private static final int MILLION_DIGITS = 6;

  private FocusRows() {}

  /** The line of column names. */
  public static String heading() {
    return Grid.csvLine(COLUMNS);
  }

  /**
   * A run's lines of CSV.
   *
   * @param api its API usage
   */
  public static String lines(RunLine run, List<BillRow> api) {
    StringBuilder text = new StringBuilder();
    Row common = common(run);
    BigDecimal cost = run.cost();
    Map<Kind, BigDecimal> amounts = run.amounts();
    Map<Kind, BigDecimal> quantities = run.quantities();
    for (Map.Entry<Kind, BigDecimal> amount : amounts.entrySet()) {
      Kind kind = amount.getKey();
      text.append(usage(common, run, kind, amount.getValue(), quantities.get(kind)));
    }
    if (amounts.isEmpty() && cost != null && cost.signum() != 0) {
      text.append(usage(common, run, Kind.OTHER, cost, null));
    }
    BigDecimal credit = run.credit();
    if (credit != null && credit.signum() != 0) {
      text.append(
          common
              .charge("Credit", credit.negate())
              .put("ChargeDescription", "taken off for the cluster's own faults")
              .put("ServiceCategory", "Compute")
              .put("ServiceName", "Slurm")
              .put("ServiceSubcategory", "Other (Compute)")
              .line());
    }
    for (BillRow row : api) {
      text.append(apiUsage(common, run, row));
    }
    return text.toString();
  }

  private static String usage(
      Row common, RunLine run, Kind kind, BigDecimal amount, @Nullable BigDecimal quantity) {
    String gpu = run.gpuType();
    String what = kind == Kind.GPU && gpu != null ? "gpu:" + gpu : kind.word();
    String category =
        switch (kind) {
          case STORAGE -> "Storage";
          case EGRESS -> "Networking";
          default -> "Compute";
        };
    Row row =
        common
            .charge("Usage", amount)
            .put("ChargeDescription", what + " of " + run.runId())
            .put("ServiceCategory", category)
            .put("ServiceSubcategory", "Other (" + category + ")")
            .put("ServiceName", "Slurm " + kind.word())
            .put("PricingCategory", "Standard");
    if (quantity != null && kind != Kind.OTHER) {
      String sku = (run.priceBook() == null ? "" : run.priceBook() + "/") + what;
      row.put("PricingQuantity", decimal(quantity))
          .put("PricingUnit", unit(kind))
          .put("ConsumedQuantity", decimal(quantity))
          .put("ConsumedUnit", unit(kind))
          .put("SkuId", sku)
          .put("SkuPriceId", sku);
    }
    return row.line();
  }

  private static String unit(Kind kind) {
    return switch (kind) {
      case GPU -> "GPU-Hours";
      case CPU -> "Core-Hours";
      case MEMORY -> "GiB-Hours";
      case STORAGE -> "GB-Months";
      case SHARD -> "GPU-Shard-Hours";
      case NODE -> "Node-Hours";
      case BILLING -> "Billing-Unit-Hours";
      default -> "GB";
    };
  }

  private static String apiUsage(Row common, RunLine run, BillRow usage) {
    BigDecimal tokens = usage.tokens().orElse(BigDecimal.ZERO);
    return common
        .charge("Usage", usage.amount())
        .period(YearMonth.parse(usage.start().substring(0, 7)))
        .put("BillingCurrency", usage.currency())
        .put("ChargePeriodStart", usage.start())
        .put("ChargePeriodEnd", Instant.parse(usage.start()).plusSeconds(1).toString())
        .put("ChargeDescription", usage.what() + " tokens of " + run.runId())
        .put("ServiceCategory", "AI and Machine Learning")
        .put("ServiceSubcategory", "Generative AI")
        .put("ServiceName", usage.what())
        .put("PricingCategory", "Standard")
        .put("PricingQuantity", decimal(tokens.movePointLeft(MILLION_DIGITS)))
        .put("PricingUnit", "1000000 Tokens")
        .put("ConsumedQuantity", decimal(tokens))
        .put("ConsumedUnit", "Tokens")
        .put("SkuId", usage.what())
        .put("SkuPriceId", usage.what())
        .line();
  }

  /** What all rows of a run have. */
  private static Row common(RunLine run) {
    String cluster = orEmpty(run.cluster());
    YearMonth month = YearMonth.parse(run.month());
    Instant started = run.started();
    Instant ended = run.ended();
    Instant begin =
        started == null ? month.atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC) : started;
    return new Row()
        .put("BillingAccountId", cluster.isEmpty() ? "unknown" : cluster)
        .put("BillingAccountName", cluster)
        .put("BillingAccountType", "Cluster")
        .put("BillingCurrency", orEmpty(run.currency()))
        .period(month)
        .put("ChargeFrequency", "Usage-Based")
        .put("ChargePeriodStart", begin.toString())
        .put("ChargePeriodEnd", (ended == null ? begin.plusSeconds(1) : ended).toString())
        .put("InvoiceIssuerName", ISSUER)
        .put("ProviderName", ISSUER)
        .put("PublisherName", ISSUER)
        .put("ResourceId", run.runId())
        .put("ResourceName", run.runId())
        .put("ResourceType", "Run")
        .put("SubAccountId", orEmpty(run.account()))
        .put("SubAccountName", orEmpty(run.account()))
        .put("SubAccountType", run.account() == null ? "" : "Slurm account")
        .put("Tags", tags(run.tags()))
        .put("x_RunId", run.runId())
        .put("x_Stage", orEmpty(run.stage()))
        .put("x_Model", orEmpty(run.model()))
        .put("x_User", orEmpty(run.user()))
        .put("x_Status", orEmpty(run.status()));
  }

  /**
   * {@code key:value}; a tag without a value has true, and of several of one key the first is it.
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

  /** Always with a point: some readers take a whole number for no decimal. */
  private static String decimal(BigDecimal number) {
    return (number.scale() < 1 ? number.setScale(1) : number).toPlainString();
  }

  private static String orEmpty(@Nullable String word) {
    return word == null ? "" : word;
  }

  /** Values by column; what was not put is empty. */
  private static final class Row {
    private static final Map<String, Integer> PLACES = new HashMap<>();

    static {
      for (String column : COLUMNS) {
        PLACES.put(column, PLACES.size());
      }
    }

    private final List<String> cells;

    Row() {
      this(Collections.nCopies(COLUMNS.size(), ""));
    }

    private Row(List<String> cells) {
      this.cells = new ArrayList<>(cells);
    }

    Row put(String column, String value) {
      cells.set(Objects.requireNonNull(PLACES.get(column)), value);
      return this;
    }

    /** A row of its own with the same values and this amount. */
    Row charge(String category, BigDecimal amount) {
      String money = decimal(amount);
      return new Row(cells)
          .put("ChargeCategory", category)
          .put("BilledCost", money)
          .put("ContractedCost", money)
          .put("EffectiveCost", money)
          .put("ListCost", money);
    }

    Row period(YearMonth month) {
      return put("BillingPeriodStart", month + "-01T00:00:00Z")
          .put("BillingPeriodEnd", month.plusMonths(1) + "-01T00:00:00Z");
    }

    String line() {
      return Grid.csvLine(cells);
    }
  }
}
