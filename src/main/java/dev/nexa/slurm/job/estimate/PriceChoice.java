package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.job.config.site.PriceEntry;
import dev.nexa.slurm.job.config.site.PriceEntry.Discount;
import dev.nexa.slurm.job.config.site.PriceEntry.Share;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.config.site.Prices;
import dev.nexa.slurm.job.estimate.BillingMode.BillingRate;
import dev.nexa.slurm.job.estimate.BillingMode.NodeRate;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the prices of a book that apply to a run.
 *
 * <p>Each price is chosen separately among the entries that match the run and are valid on the day.
 * An account beats a partition, a partition beats a cluster, and a later valid_from beats an
 * earlier date. Among equal entries the last in the file wins. A discount is chosen in the same way
 * and taken off every price. Pure.
 */
final class PriceChoice {
  /** Decimals of a price that is a share of another price. */
  private static final int DECIMALS = 8;

  private final PriceBook book;
  private final PriceKey key;
  private final List<PriceEntry> matching = new ArrayList<>();
  private final @Nullable Discount discount;

  PriceChoice(PriceBook book, PriceKey key) {
    this.book = book;
    this.key = key;
    TreeSet<String> partitions = new TreeSet<>();
    for (PriceEntry entry : book.entries()) {
      if (entry.matches(key.cluster(), key.partition(), key.account())) {
        matching.add(entry);
      } else if (key.partition().isEmpty()
          && holds(entry)
          && entry.matches(key.cluster(), entry.partition(), key.account())) {
        partitions.add(entry.partition().orElseThrow());
      }
    }
    if (!partitions.isEmpty()) {
      throw ErrorCode.PRICE_NEEDS_PARTITION.error(
          ("price book '%s' has prices for partitions of their own (%s), and it is"
                  + " not known which partition the run gets")
              .formatted(book.name(), String.join(", ", partitions)),
          "name it: resources.partition, or default_partition in configs/clusters/%s.yaml"
              .formatted(key.cluster()));
    }
    PriceEntry off = best(entry -> entry.discount().isPresent());
    this.discount = off == null ? null : off.discount().orElseThrow();
  }

  Rates rates() {
    PriceEntry node = key.nodeCpus().isPresent() ? valid(PricedUnit.NODE) : null;
    if (node != null) {
      NodeRate rate = new NodeRate(price(node, PricedUnit.NODE), key.nodeCpus().orElseThrow());
      return rates(
          Map.of(), false, new BillingMode(Map.of(), Optional.of(rate), Optional.empty(), false));
    }
    PriceEntry billing = valid(PricedUnit.BILLING);
    if (billing != null && !beats(best(entry -> entry.prices().haveParts()), billing)) {
      BillingRate rate = new BillingRate(price(billing, PricedUnit.BILLING), weights());
      return rates(
          Map.of(), false, new BillingMode(Map.of(), Optional.empty(), Optional.of(rate), false));
    }
    Map<String, Price> gpus = byType(Prices::gpuHour, Prices::gpuShares);
    key.gpuTypes().forEach(type -> requireValid(type, gpus));
    Map<String, Price> shards = byType(Prices::shardHour, Prices::shardShares);
    BillingMode terms =
        shards.isEmpty() && !book.gpuHourCoversJob()
            ? BillingMode.PLAIN
            : new BillingMode(shards, Optional.empty(), Optional.empty(), book.gpuHourCoversJob());
    return rates(gpus, true, terms);
  }

  /**
   * Returns the rates.
   *
   * @param parts whether the parts of an allocation are charged
   */
  private Rates rates(Map<String, Price> gpus, boolean parts, BillingMode terms) {
    Map<PricedUnit, Price> units = new EnumMap<>(PricedUnit.class);
    for (PricedUnit unit : PricedUnit.OF_RUNS) {
      if (!unit.isOfEntries()) {
        book.prices().of(unit).ifPresent(price -> units.put(unit, price));
        continue;
      }
      PriceEntry entry = parts || !unit.isPart() ? valid(unit) : null;
      if (entry != null) {
        units.put(unit, price(entry, unit));
      }
    }
    return new Rates(
        book.name(),
        book.asOf().toString(),
        book.digest(),
        book.currency(),
        gpus,
        units,
        terms,
        key.apiModels().isEmpty() ? Map.of() : apiTokens());
  }

  private Map<String, TokenPrice> apiTokens() {
    Map<String, TokenPrice> prices = new LinkedHashMap<>();
    for (String model : key.apiModels()) {
      PriceEntry entry = best(one -> one.prices().apiTokens().containsKey(model));
      if (entry == null) {
        requireNone(
            "api_tokens." + model,
            "",
            one -> Optional.ofNullable(one.prices().apiTokens().get(model)).map(PriceChoice::told));
        throw TokenRates.missing(book, model);
      }
      TokenPrice price = Objects.requireNonNull(entry.prices().apiTokens().get(model));
      prices.put(model, new TokenPrice(discounted(price.input()), discounted(price.output())));
    }
    return prices;
  }

  private static String told(TokenPrice price) {
    return told(price.input()) + " and " + told(price.output());
  }

  /** Returns the valid entry with the highest precedence among those that {@code has} accepts. */
  private @Nullable PriceEntry best(Predicate<PriceEntry> has) {
    return matching.stream()
        .filter(entry -> holds(entry) && has.test(entry))
        .reduce((best, entry) -> beats(best, entry) ? best : entry)
        .orElse(null);
  }

  /**
   * Returns whether the first entry has precedence. Among equal entries, the later entry in the
   * file has precedence.
   */
  private boolean beats(@Nullable PriceEntry one, PriceEntry other) {
    if (one == null) {
      return false;
    }
    int weight = Integer.compare(one.weight(), other.weight());
    int from =
        one.validFrom().orElse(LocalDate.MIN).compareTo(other.validFrom().orElse(LocalDate.MIN));
    int place = Integer.compare(book.entries().indexOf(one), book.entries().indexOf(other));
    return weight != 0 ? weight > 0 : from != 0 ? from > 0 : place > 0;
  }

  private Price price(PriceEntry entry, PricedUnit unit) {
    return discounted(entry.prices().of(unit).orElseThrow());
  }

  /**
   * Returns the entry whose price applies; null if no entry has such a price on any day.
   *
   * @throws NexaException if an entry has such a price on another day only
   */
  private @Nullable PriceEntry valid(PricedUnit unit) {
    PriceEntry best = best(entry -> entry.prices().of(unit).isPresent());
    if (best == null) {
      requireNone(unit.key(), "", entry -> entry.prices().of(unit).map(PriceChoice::told));
    }
    return best;
  }

  /**
   * Returns the prices that apply, by GPU type. A share is computed from the price that applies to
   * the whole GPU.
   */
  private Map<String, Price> byType(
      Function<Prices, Map<String, Price>> prices, Function<Prices, Map<String, Share>> shares) {
    TreeSet<String> types = new TreeSet<>();
    for (PriceEntry entry : matching) {
      types.addAll(prices.apply(entry.prices()).keySet());
      types.addAll(shares.apply(entry.prices()).keySet());
    }
    Map<String, Price> all = new LinkedHashMap<>();
    for (String type : types) {
      PriceEntry entry = holder(type, prices, shares);
      if (entry != null) {
        Price price = prices.apply(entry.prices()).get(type);
        Share share = shares.apply(entry.prices()).get(type);
        Price found = price != null ? price : part(share);
        if (found != null) {
          all.put(type, discounted(found));
        }
      }
    }
    return all;
  }

  /** Returns the entry whose price or share applies to a GPU type; null if there is none. */
  private @Nullable PriceEntry holder(
      String type,
      Function<Prices, Map<String, Price>> prices,
      Function<Prices, Map<String, Share>> shares) {
    return best(
        one ->
            prices.apply(one.prices()).containsKey(type)
                || shares.apply(one.prices()).containsKey(type));
  }

  /** Returns the price of a share; null if the whole GPU has no price on that day. */
  private @Nullable Price part(@Nullable Share share) {
    if (share == null) {
      return null;
    }
    PriceEntry whole = best(entry -> entry.prices().gpuHour().containsKey(share.of()));
    Price price = whole == null ? null : whole.prices().gpuHour().get(share.of());
    if (price == null) {
      return null;
    }
    BigDecimal part =
        price
            .price()
            .multiply(share.above())
            .divide(share.below(), MathContext.DECIMAL128)
            .setScale(DECIMALS, RoundingMode.HALF_UP);
    String each = price.price().toPlainString();
    String source =
        "%s of %s at %s (%s): %s"
            .formatted(share.part(), share.of(), each, price.source(), share.source());
    return new Price(plain(part), source);
  }

  private Price discounted(Price price) {
    if (discount == null || discount.percent().signum() == 0) {
      return price;
    }
    BigDecimal hundred = BigDecimal.valueOf(100);
    BigDecimal rest = price.price().multiply(hundred.subtract(discount.percent())).movePointLeft(2);
    String less = plain(discount.percent()).toPlainString();
    String source =
        "%s; %s less %s %%: %s"
            .formatted(price.source(), price.price().toPlainString(), less, discount.source());
    return new Price(plain(rest), source);
  }

  private static BigDecimal plain(BigDecimal number) {
    BigDecimal stripped = number.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private void requireValid(String type, Map<String, Price> gpus) {
    if (gpus.keySet().stream().anyMatch(type::equalsIgnoreCase)) {
      return;
    }
    PriceEntry holds = holder(type, Prices::gpuHour, Prices::gpuShares);
    Share part = holds == null ? null : holds.prices().gpuShares().get(type);
    if (part != null) {
      requireNone(
          "gpu_hour." + part.of(),
          ", of which gpu_hour." + type + " is " + part.part(),
          entry ->
              Optional.ofNullable(entry.prices().gpuHour().get(part.of())).map(PriceChoice::told));
      return;
    }
    requireNone(
        (book.isSkyPilots() ? "accelerators." : "gpu_hour.") + type,
        "",
        entry -> {
          Price price = entry.prices().gpuHour().get(type);
          Share share = entry.prices().gpuShares().get(type);
          return price != null
              ? Optional.of(told(price))
              : Optional.ofNullable(share).map(one -> one.part() + " of " + one.of());
        });
    if (book.isSkyPilots()) {
      String others = gpus.isEmpty() ? "" : "; it has " + String.join(", ", gpus.keySet());
      throw ErrorCode.PRICE_MISSING.error(
          "price book '%s' has no price for GPU type '%s'%s".formatted(book.name(), type, others),
          "add %s under slurm.pricing.accelerators in %s".formatted(type, book.file()));
    }
  }

  private static String told(Price price) {
    return price.price().toPlainString() + " (" + price.source() + ")";
  }

  /**
   * Throws if the book has this price on another day only. An expired or future price is an error,
   * not a free item.
   *
   * @param why why the price is needed; an empty text if the run itself holds the item
   */
  private void requireNone(String name, String why, Function<PriceEntry, Optional<String>> of) {
    PriceEntry last = null;
    PriceEntry next = null;
    for (PriceEntry entry : matching) {
      if (of.apply(entry).isEmpty()) {
        continue;
      }
      boolean ended = ends(entry).isBefore(key.day());
      if (ended && (last == null || !ends(last).isAfter(ends(entry)))) {
        last = entry;
      } else if (!ended && (next == null || begins(entry).isBefore(begins(next)))) {
        next = entry;
      }
    }
    if (last == null && next == null) {
      return;
    }
    StringBuilder message = new StringBuilder("price book '").append(book.name());
    message.append("' has no price for ").append(name).append(" on ").append(key.day());
    message.append(why);
    if (last != null) {
      message.append(": the last one, ").append(of.apply(last).orElseThrow());
      message.append(", was valid until ").append(ends(last));
      message.append(" (").append(last.at()).append(')');
    }
    if (next != null) {
      message.append(last == null ? ": the first one, " : "; the next one, ");
      message.append(of.apply(next).orElseThrow()).append(", begins on ").append(begins(next));
      message.append(" (").append(next.at()).append(')');
    }
    throw ErrorCode.PRICE_MISSING.error(message.toString(), advice());
  }

  private String advice() {
    String file = book.file();
    PriceEntry all = book.entries().get(0);
    return all.validOn(key.day())
        ? "add an entry that is valid then to " + file
        : "valid_from and valid_until on top of " + file + " bound all its prices: change them";
  }

  /**
   * Returns whether an entry is valid on the day. The book's own dates limit the dates of its
   * overrides.
   */
  private boolean holds(PriceEntry entry) {
    return !key.day().isBefore(begins(entry)) && !key.day().isAfter(ends(entry));
  }

  private LocalDate ends(PriceEntry entry) {
    LocalDate all = book.entries().get(0).validUntil().orElse(LocalDate.MAX);
    LocalDate own = entry.validUntil().orElse(LocalDate.MAX);
    return own.isBefore(all) ? own : all;
  }

  private LocalDate begins(PriceEntry entry) {
    LocalDate all = book.entries().get(0).validFrom().orElse(LocalDate.MIN);
    LocalDate own = entry.validFrom().orElse(LocalDate.MIN);
    return own.isAfter(all) ? own : all;
  }

  /**
   * Returns the partition's billing weights.
   *
   * @throws NexaException if the profile has none, or if they ignore the GPUs that the run holds
   */
  private BillingWeights weights() {
    String partition = key.partition().orElse("");
    if (key.billingWeights().isEmpty()) {
      String unknown = ": it is not known which partition the run gets";
      throw ErrorCode.BILLING_WEIGHTS_MISSING.error(
          ("price book '%s' prices Slurm's billing units, and the cluster profile '%s' does not say"
                      + " how they are computed")
                  .formatted(book.name(), key.cluster())
              + (partition.isEmpty() ? unknown : " in partition '" + partition + "'"),
          Advice.step(
              "write partitions."
                  + (partition.isEmpty() ? "NAME" : partition)
                  + ".billing_weights: its TRESBillingWeights, or CPU=1 where it has none"),
          Advice.command("reads them off the cluster", "nexa-slurm", "init"));
    }
    BillingWeights.Rule rule =
        BillingWeights.Rule.valueOf(key.billingRule().toUpperCase(Locale.ROOT));
    BillingWeights weights = BillingWeights.parse(key.billingWeights().get(), rule);
    if (!key.gpuTypes().isEmpty() && !weights.speakOfGpus()) {
      throw ErrorCode.BILLING_WEIGHTS_MISSING.error(
          ("the billing weights of partition '%s' (%s) say nothing of GPUs, and"
                  + " the run holds %s")
              .formatted(partition, weights.text(), String.join(", ", key.gpuTypes())),
          "price GPUs by gpu_hour, for this partition alone if you like (`nexa-slurm explain docs/prices.md`)",
          "or, if they are free there, add GRES/gpu=0 to its billing_weights in the profile");
    }
    return weights;
  }
}
