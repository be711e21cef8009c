package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.JsonDifference;
import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.PriceKey;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The approver's own prices beside those of an estimate, which are the word of who wants the money.
 *
 * @param theirs the estimate at its own rates
 * @param limits what it is charged for
 */
record OwnPrices(Nexa nexa, String typed, Estimate theirs, JsonObject limits) {
  /**
   * What the approver should know of the prices.
   *
   * @param trusted whether other prices than the approver's may be signed
   * @throws NexaException if they are other prices, or can't be checked, and are not trusted
   */
  List<String> notes(boolean trusted) {
    Rates ours;
    boolean dated;
    try {
      ClusterProfile cluster = nexa.configs().cluster(limits.text("cluster"));
      // The book that this profile names: which book counts is not up to the estimate.
      PriceBook book = nexa.configs().prices(cluster);
      dated = !book.entries().isEmpty();
      ours = Rates.of(book, key(cluster));
    } catch (NexaException | IllegalArgumentException missing) {
      return others("its prices can't be checked here: " + missing.getMessage(), usual(), trusted);
    }
    List<String> all = JsonDifference.lines(ours.toJson(), theirs.rates().toJson());
    // Of prices with dates others may have held when it was made.
    if (!all.isEmpty() && ours.digest().equals(theirs.rates().digest()) && !dated) {
      throw new NexaException(
          ExitCode.USAGE,
          typed + ": its rates are not those of the price book that it names: " + told(all),
          "it was edited; ask for the estimate anew, or approve the config itself");
    }
    List<String> charged = new ArrayList<>();
    for (String line : all) {
      if (charges(line.substring(0, line.indexOf(": ")))) {
        charged.add(line);
      }
    }
    if (!charged.isEmpty()) {
      return others("its prices are not yours: " + told(charged), Optional.of(ours), trusted);
    }
    return all.isEmpty()
        ? List.of()
        : List.of("its price book is not yours, its prices of this run are: " + told(all));
  }

  private static String told(List<String> differences) {
    return String.join("; ", differences).replace(" was approved, this is ", " here, there ");
  }

  /** Whether such a member of the rates can change what this run is charged. */
  private boolean charges(String name) {
    boolean words =
        name.equals("book")
            || name.equals("as_of")
            || name.equals("digest")
            || name.endsWith(".source");
    boolean otherGpu =
        name.startsWith("gpu_hour.") && !name.equals("gpu_hour." + gpuType().orElse("") + ".price");
    return !words && !otherGpu;
  }

  private List<String> others(String why, Optional<Rates> ours, boolean trusted) {
    List<String> lines = new ArrayList<>();
    gpuType().ifPresent(type -> gpuHour(type, ours, lines));
    lines.add("the run: " + theirs.total() + " by the estimate, " + total(ours));
    if (trusted) {
      lines.add(0, "--trust-prices: " + why);
      return lines;
    }
    lines.add(
        "ask the submitter whose price book that is; --trust-prices signs the estimate's prices");
    throw new NexaException(ExitCode.NEEDS_APPROVAL, typed + ": " + why, lines);
  }

  private void gpuHour(String type, Optional<Rates> ours, List<String> lines) {
    Price there = theirs.rates().gpuHour().get(type);
    Price here = ours.isPresent() ? ours.get().gpuHour().get(type) : null;
    if (there == null && here == null) {
      // Both charge whole nodes or billing units.
      return;
    }
    lines.add(
        "an hour of "
            + type
            + ": "
            + (there == null ? "no price" : there.price() + " " + theirs.rates().currency())
            + " by the estimate, "
            + (here == null
                ? "and you have no price for it"
                : here.price()
                    + " "
                    + ours.orElseThrow().currency()
                    + " by your price book '"
                    + ours.orElseThrow().book()
                    + "'"));
  }

  private String total(Optional<Rates> ours) {
    String none = "and it can't be said by your prices";
    try {
      return ours.isEmpty() ? none : theirs.at(ours.get()).total() + " by your prices";
    } catch (NexaException notPriced) {
      return none;
    }
  }

  /** Of the approver's usual cluster, where the estimate's is not known here. */
  private Optional<Rates> usual() {
    try {
      ClusterProfile cluster = nexa.configs().cluster(Prepared.clusterName(nexa));
      return Optional.of(Rates.of(nexa.configs().prices(cluster), key(cluster)));
    } catch (NexaException | IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  private Optional<String> gpuType() {
    return limits.number("gpus") > 0 ? limits.optionalText("gpu_type") : Optional.empty();
  }

  private PriceKey key(ClusterProfile cluster) {
    Optional<String> partition = limits.optionalText("partition");
    PriceKey key =
        PriceKey.of(
            cluster,
            partition,
            limits.optionalText("account"),
            LocalDate.now(ZoneOffset.UTC),
            gpuType().map(List::of).orElse(List.of()));
    boolean whole = limits.flag("exclusive") || key.nodeCpus().isPresent();
    long cpus = limits.number("cpus") / Math.max(1, limits.number("nodes"));
    return new PriceKey(
        key.cluster(),
        key.partition(),
        key.account(),
        key.day(),
        key.gpuTypes(),
        whole ? Optional.of((int) Math.max(1, cpus)) : Optional.empty(),
        key.billingWeights(),
        key.billingRule());
  }
}
