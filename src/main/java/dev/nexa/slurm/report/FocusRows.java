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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    BigDecimal cost = run.cost();
    Map<Kind, BigDecimal> amounts = run.amounts();
    Map<Kind, BigDecimal> quantities = run.quantities();
    for (Map.Entry<Kind, BigDecimal> amount : amounts.entrySet()) {
      text.append(usage(run, amount.getKey(), amount.getValue(), quantities.get(amount.getKey())));
    }
    if (amounts.isEmpty() && cost != null && cost.signum() != 0) {
      text.append(usage(run, Kind.OTHER, cost, null));
    }
    BigDecimal credit = run.credit();
    if (credit != null && credit.signum() != 0) {
      Map<String, String> row = row(run, "Credit", credit.negate());
      row.put("ChargeDescription", "taken off for the cluster's own faults");
      row.put("ServiceCategory", "Compute");
      row.put("ServiceName", "Slurm");
      row.put("ServiceSubcategory", "Other (Compute)");
      text.append(line(row));
    }
    for (BillRow row : api) {
      text.append(apiUsage(run, row));
    }
    return text.toString();
  }

  private static String usage(
      RunLine run, Kind kind, BigDecimal amount, @Nullable BigDecimal quantity) {
    Map<String, String> row = row(run, "Usage", amount);
    String gpu = run.gpuType();
    String what = kind == Kind.GPU && gpu != null ? "gpu:" + gpu : kind.word();
    row.put("ChargeDescription", what + " of " + run.runId());
    String category =
        switch (kind) {
          case STORAGE -> "Storage";
          case EGRESS -> "Networking";
          default -> "Compute";
        };
    row.put("ServiceCategory", category);
    row.put("ServiceSubcategory", "Other (" + category + ")");
    row.put("ServiceName", "Slurm " + kind.word());
    row.put("PricingCategory", "Standard");
    if (quantity != null && kind != Kind.OTHER) {
      quantity(row, quantity, unit(kind));
      row.put("ConsumedQuantity", decimal(quantity));
      row.put("ConsumedUnit", unit(kind));
      sku(row, (run.priceBook() == null ? "" : run.priceBook() + "/") + what);
    }
    return line(row);
  }

  private static String unit(Kind kind) {
    return switch (kind) {
      case GPU -> "GPU-Hours";
      case CPU -> "Core-Hours";
      case MEMORY -> "GiB-Hours";
      case STORAGE -> "GB-Months";
      default -> "GB";
    };
  }

  private static void quantity(Map<String, String> row, BigDecimal quantity, String unit) {
    row.put("PricingQuantity", decimal(quantity));
    row.put("PricingUnit", unit);
  }

  private static void sku(Map<String, String> row, String sku) {
    row.put("SkuId", sku);
    row.put("SkuPriceId", sku);
  }

  private static String apiUsage(RunLine run, BillRow usage) {
    Map<String, String> row = row(run, "Usage", usage.amount());
    YearMonth month = YearMonth.parse(usage.start().substring(0, 7));
    period(row, month);
    row.put("BillingCurrency", usage.currency());
    row.put("ChargePeriodStart", usage.start());
    row.put("ChargePeriodEnd", Instant.parse(usage.start()).plusSeconds(1).toString());
    row.put("ChargeDescription", usage.what() + " tokens of " + run.runId());
    row.put("ServiceCategory", "AI and Machine Learning");
    row.put("ServiceSubcategory", "Generative AI");
    row.put("ServiceName", usage.what());
    row.put("PricingCategory", "Standard");
    BigDecimal tokens = usage.tokens().orElse(BigDecimal.ZERO);
    quantity(row, tokens.movePointLeft(MILLION_DIGITS), "1000000 Tokens");
    row.put("ConsumedQuantity", decimal(tokens));
    row.put("ConsumedUnit", "Tokens");
    sku(row, usage.what());
    return line(row);
  }

  /** What all rows of a run have. */
  private static Map<String, String> row(RunLine run, String category, BigDecimal amount) {
    Map<String, String> row = new HashMap<>();
    String money = decimal(amount);
    for (String cost : List.of("BilledCost", "ContractedCost", "EffectiveCost", "ListCost")) {
      row.put(cost, money);
    }
    String cluster = orEmpty(run.cluster());
    row.put("BillingAccountId", cluster.isEmpty() ? "unknown" : cluster);
    row.put("BillingAccountName", cluster);
    row.put("BillingAccountType", "Cluster");
    row.put("BillingCurrency", orEmpty(run.currency()));
    YearMonth month = YearMonth.parse(run.month());
    period(row, month);
    row.put("ChargeCategory", category);
    row.put("ChargeFrequency", "Usage-Based");
    Instant ended = run.ended();
    Instant started = run.started();
    Instant begin =
        started == null ? month.atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC) : started;
    row.put("ChargePeriodStart", begin.toString());
    row.put("ChargePeriodEnd", (ended == null ? begin.plusSeconds(1) : ended).toString());
    for (String name : List.of("InvoiceIssuerName", "ProviderName", "PublisherName")) {
      row.put(name, ISSUER);
    }
    row.put("ResourceId", run.runId());
    row.put("ResourceName", run.runId());
    row.put("ResourceType", "Run");
    row.put("SubAccountId", orEmpty(run.account()));
    row.put("SubAccountName", orEmpty(run.account()));
    row.put("SubAccountType", run.account() == null ? "" : "Slurm account");
    row.put("Tags", tags(run.tags()));
    row.put("x_RunId", run.runId());
    row.put("x_Stage", orEmpty(run.stage()));
    row.put("x_Model", orEmpty(run.model()));
    row.put("x_User", orEmpty(run.user()));
    row.put("x_Status", orEmpty(run.status()));
    return row;
  }

  private static void period(Map<String, String> row, YearMonth month) {
    row.put("BillingPeriodStart", month + "-01T00:00:00Z");
    row.put("BillingPeriodEnd", month.plusMonths(1) + "-01T00:00:00Z");
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

  private static String line(Map<String, String> row) {
    List<String> cells = new ArrayList<>();
    for (String column : COLUMNS) {
      cells.add(row.getOrDefault(column, ""));
    }
    return Grid.csvLine(cells);
  }
}
