package dev.nexa.slurm.report;

import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.estimate.PriceKey;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.estimate.Terms.BillingRate;
import dev.nexa.slurm.files.JsonObject;
import java.util.Map;

/** A run's prices for people and as a document. */
public final class RatesText {
  private RatesText() {}

  /** Whose they are, a table, and what they mean where that is not plain. */
  public static String of(PriceKey key, Rates rates) {
    StringBuilder text = new StringBuilder("Prices of ").append(rates.book());
    text.append(", as of ").append(rates.asOf()).append(", in ").append(rates.currency());
    text.append(", for cluster ").append(key.cluster());
    key.partition().ifPresent(partition -> text.append(", partition ").append(partition));
    key.account().ifPresent(account -> text.append(", account ").append(account));
    text.append(", on ").append(key.day()).append(".\n\n");
    Table table = new Table("WHAT", "UNIT", "PRICE", "SOURCE");
    rates
        .terms()
        .billingHour()
        .ifPresent(rate -> row(table, "billing", "billing_hour", rate.price()));
    rates.terms().nodeHour().ifPresent(rate -> row(table, "node", "node_hour", rate.price()));
    for (Map.Entry<String, Price> gpu : rates.gpuHour().entrySet()) {
      row(table, "gpu:" + gpu.getKey(), "gpu_hour", gpu.getValue());
    }
    for (Map.Entry<String, Price> shard : rates.terms().shardHour().entrySet()) {
      row(table, "shard:" + shard.getKey(), "shard_hour", shard.getValue());
    }
    rates.cpuHour().ifPresent(price -> row(table, "cpu", "cpu_hour", price));
    rates.memoryGibHour().ifPresent(price -> row(table, "memory", "gib_hour", price));
    rates.storageGbMonth().ifPresent(price -> row(table, "storage", "gb_month", price));
    text.append(table);
    if (key.day().toString().compareTo(rates.asOf()) < 0) {
      text.append("\nThat day is before ").append(rates.asOf());
      text.append(", the day of which the book knows its prices (as_of).\n");
    }
    if (rates.terms().billingHour().isPresent()) {
      BillingRate rate = rates.terms().billingHour().get();
      text.append("\nBilling units are Slurm's: ").append(rate.weights().text());
      text.append(", rule ").append(rate.weights().rule().word()).append(".\n");
    }
    if (rates.terms().nodeHour().isPresent()) {
      text.append("\nWhole nodes are charged, and not what is in them.\n");
    }
    if (rates.terms().gpuHourCoversJob()) {
      text.append("\nA GPU's price covers the CPUs and the memory of its job.\n");
    }
    return text.toString();
  }

  private static void row(Table table, String what, String unit, Price price) {
    table.row(what, unit, price.price().toPlainString(), price.source());
  }

  /** The same as {@code --json} prints it. */
  public static JsonObject json(PriceKey key, Rates rates) {
    return new JsonObject()
        .with("schema_version", 1)
        .with("cluster", key.cluster())
        .with("partition", key.partition().orElse(null))
        .with("account", key.account().orElse(null))
        .with("day", key.day().toString())
        .with("whole_nodes", key.nodeCpus().isPresent())
        .with("rates", rates.toJson());
  }
}
