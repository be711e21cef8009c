package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.BillingMode.BillingRate;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import java.util.ArrayList;
import java.util.List;

/** Formats a run's prices as text and as JSON. */
public final class RatesText {
  private static final Columns<Priced> COLUMNS =
      new Columns<Priced>()
          .text("what", Priced::what)
          .text("unit", Priced::unit)
          .money("price", priced -> priced.price().price())
          .note("source", priced -> priced.price().source());

  private RatesText() {}

  private record Priced(String what, String unit, Price price) {}

  /**
   * Returns the prices as a table, with the run they apply to and an explanation of unusual
   * charges.
   */
  public static String of(PriceKey key, Rates rates, TableStyle style) {
    StringBuilder text = new StringBuilder("Prices of " + rates.book() + ", as of " + rates.asOf());
    text.append(", in " + rates.currency() + ", for cluster " + key.cluster());
    key.partition().ifPresent(partition -> text.append(", partition ").append(partition));
    key.account().ifPresent(account -> text.append(", account ").append(account));
    text.append(", on ").append(key.day()).append(".\n\n");
    text.append(COLUMNS.of(priced(rates)).table(style));
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
      text.append("\nWhole nodes are charged, not their parts.\n");
    }
    if (rates.terms().gpuHourCoversJob()) {
      text.append("\nA GPU's price covers the CPUs and the memory of its job.\n");
    }
    return text.toString();
  }

  private static List<Priced> priced(Rates rates) {
    List<Priced> priced = new ArrayList<>();
    rates
        .terms()
        .billingHour()
        .ifPresent(rate -> priced.add(priced(PricedUnit.BILLING, rate.price())));
    rates.terms().nodeHour().ifPresent(rate -> priced.add(priced(PricedUnit.NODE, rate.price())));
    rates
        .gpuHour()
        .forEach((type, price) -> priced.add(new Priced("gpu:" + type, "gpu_hour", price)));
    rates
        .terms()
        .shardHour()
        .forEach((type, price) -> priced.add(new Priced("shard:" + type, "shard_hour", price)));
    rates.units().forEach((unit, price) -> priced.add(priced(unit, price)));
    rates
        .apiTokens()
        .forEach(
            (model, price) -> {
              String what = "api_tokens:" + model;
              priced.add(new Priced(what + " input", "million_tokens", price.input()));
              priced.add(new Priced(what + " output", "million_tokens", price.output()));
            });
    return priced;
  }

  private static Priced priced(PricedUnit unit, Price price) {
    return new Priced(unit.what(), unit.unit(), price);
  }

  /** Returns the JSON document of the prices. */
  public static JsonObject json(PriceKey key, Rates rates) {
    return JsonObject.ofVersion(1)
        .with("cluster", key.cluster())
        .with("partition", key.partition().orElse(null))
        .with("account", key.account().orElse(null))
        .with("day", key.day().toString())
        .with("whole_nodes", key.nodeCpus().isPresent())
        .with("rates", rates.toJson());
  }
}
