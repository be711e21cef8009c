package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceEntry;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Implements {@code prices show} and {@code prices check}. */
public record ShowPrices(Context context) {
  private static final BigDecimal ALL = BigDecimal.valueOf(100);

  /** Finds a year in a price's source, which shows that the source is dated. */
  private static final Pattern YEAR = Pattern.compile("\\b(19|20)\\d\\d\\b");

  /** The prices of a run, and the run that they apply to. */
  public record Shown(PriceKey key, Rates rates) {}

  /**
   * Returns the prices of a run on this cluster, partition and account that is planned on this day.
   *
   * @throws NexaException if the profile has no such partition, or if the book has no price
   */
  public Shown show(
      Optional<String> cluster,
      Optional<String> partition,
      Optional<String> account,
      LocalDate day) {
    ClusterProfile profile =
        context.configs().cluster(cluster.orElseGet(() -> Prepared.clusterName(context)));
    Set<String> known = profile.partitions().keySet();
    if (partition.isPresent() && !known.isEmpty() && !known.contains(partition.get())) {
      String hint = Nearest.hint(partition.get(), known);
      throw Subcommand.invalid(
          "the profile '" + profile.name() + "' has no partition '" + partition.get() + "'" + hint,
          "it has " + String.join(", ", known));
    }
    PriceKey key =
        PriceKey.of(
            profile,
            partition.or(profile.usual()::partition),
            account.or(profile.usual()::account),
            day,
            List.of());
    PriceBook book = context.configs().prices(profile);
    Rates rates = withTokens(book, key, Rates.of(book, key));
    if (rates.gpuHour().isEmpty()
        && rates.units().keySet().stream().noneMatch(PricedUnit::isPart)
        && rates.terms().partsAreCharged()) {
      // There is no price at all: the error names the last valid one.
      Rates.of(book, key.holding(List.copyOf(book.gpuTypes())));
    }
    return new Shown(key, rates);
  }

  /** Returns the rates with the price of each API's model that is valid on the day. */
  private static Rates withTokens(PriceBook book, PriceKey key, Rates rates) {
    List<String> valid = new ArrayList<>();
    for (String model : book.apiModels()) {
      try {
        Rates.of(book, key.calling(List.of(model)));
        valid.add(model);
      } catch (NexaException notOnThisDay) {
        // The table has the prices of the day only, as for GPUs.
      }
    }
    return valid.isEmpty() ? rates : Rates.of(book, key.calling(valid));
  }

  /**
   * Reads a price book as a submit does, and throws if it is not valid.
   *
   * @param notes receives a line for each value that is valid but suspicious
   */
  public PriceBook check(String file, LocalDate today, List<String> notes) {
    PriceBook book = context.configs().pricesFile(file);
    sources(book, notes);
    for (PriceEntry entry : book.entries()) {
      if (entry.validUntil().map(until -> until.isBefore(today)).orElse(false)) {
        notes.add(entry.at() + ": its prices ended on " + entry.validUntil().orElseThrow());
      }
      if (entry.cluster().isPresent()) {
        cluster(entry, notes);
      } else if (entry.partition().isPresent()) {
        partition(book, entry, notes);
      }
      if (entry.discount().map(off -> off.percent().compareTo(ALL) == 0).orElse(false)) {
        notes.add(entry.at() + ": a discount of 100 %: such runs are free");
      }
    }
    return book;
  }

  /**
   * Checks a partition of an entry for all clusters, against the profiles in this workspace that
   * use the book.
   */
  private void partition(PriceBook book, PriceEntry entry, List<String> notes) {
    String partition = entry.partition().orElseThrow();
    TreeSet<String> known = new TreeSet<>();
    ConfigReader configs = context.configs();
    List<ClusterProfile> profiles = configs.profileNames().stream().map(configs::cluster).toList();
    for (ClusterProfile profile : profiles) {
      if (profile.priceBook().equals(book.name()) && !profile.isLocal()) {
        if (profile.partitions().isEmpty()) {
          return;
        }
        known.addAll(profile.partitions().keySet());
      }
    }
    if (!known.isEmpty() && !known.contains(partition)) {
      notes.add(
          "%s: no profile here that uses this book has a partition '%s'%s"
              .formatted(entry.at(), partition, Nearest.hint(partition, known)));
    }
  }

  /**
   * Checks an entry's cluster name. An entry for an unknown cluster never applies, and submit does
   * not report that.
   */
  private void cluster(PriceEntry entry, List<String> notes) {
    String name = entry.cluster().orElseThrow();
    boolean shipped = List.of("default", "cpu", "local").contains(name);
    if (!shipped && !context.configs().profileNames().contains(name)) {
      notes.add(entry.at() + ": there is no configs/clusters/" + name + ".yaml here");
      return;
    }
    Set<String> partitions = context.configs().cluster(name).partitions().keySet();
    String partition = entry.partition().orElse("");
    if (!partition.isEmpty() && !partitions.isEmpty() && !partitions.contains(partition)) {
      notes.add(
          "%s: the profile '%s' has no partition '%s'%s"
              .formatted(entry.at(), name, partition, Nearest.hint(partition, partitions)));
    }
  }

  private static void sources(PriceBook book, List<String> notes) {
    TreeSet<String> without = new TreeSet<>();
    TreeSet<String> free = new TreeSet<>();
    List<PriceBook.Price> prices = new ArrayList<>(book.prices().all());
    book.entries().forEach(entry -> prices.addAll(entry.prices().all()));
    for (PriceBook.Price price : prices) {
      if (price.price().signum() == 0) {
        free.add(price.source());
      }
      if (!YEAR.matcher(price.source()).find()) {
        without.add(price.source());
      }
    }
    without.forEach(source -> notes.add("no date in the source \"" + source + "\""));
    free.forEach(
        source -> notes.add("a price of 0, which is free, by the source \"" + source + "\""));
  }
}
