package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.approvals.ApprovedValues;
import dev.nexa.slurm.run.Context;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Compares the approver's own prices with the prices of an estimate, which its submitter chose.
 *
 * @param typed the name that the approver typed for the estimate
 * @param theirs the estimate at its own rates
 * @param limits the resources that the estimate charges for
 */
public record OwnPrices(Context context, String typed, Estimate theirs, JsonObject limits) {
  private static final Set<String> WORDS = Set.of("book", "as_of", "digest");

  /**
   * Returns lines for the approver about differences between the prices.
   *
   * @param trusted whether the approver may sign prices other than their own
   * @throws NexaException if the prices differ, or cannot be checked, and {@code trusted} is false;
   *     also if the rates differ from the price book that the estimate names
   */
  public List<String> notes(boolean trusted) {
    Rates ours;
    boolean dated;
    try {
      ClusterProfile cluster = context.configs().cluster(limits.text("cluster"));
      // The profile names the price book: the estimate must not choose it.
      PriceBook book = context.configs().prices(cluster);
      dated = !book.entries().isEmpty();
      ours = Rates.of(book, key(cluster));
    } catch (NexaException | IllegalArgumentException missing) {
      return others("its prices can't be checked here: " + missing.getMessage(), usual(), trusted);
    }
    // Prices with dates may have been others when the estimate was made.
    List<String> all = ApprovedValues.differences(ours.toJson(), theirs.rates().toJson());
    if (!all.isEmpty() && ours.digest().equals(theirs.rates().digest()) && !dated) {
      throw ErrorCode.ESTIMATE_UNUSABLE.error(
          typed + ": its rates are not those of the price book that it names: " + told(all),
          "it was edited; ask for the estimate anew, or approve the config itself");
    }
    List<String> charged =
        all.stream().filter(line -> charges(line.substring(0, line.indexOf(": ")))).toList();
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

  /** Returns whether this member of the rates can change the cost of this run. */
  private boolean charges(String name) {
    boolean words = WORDS.contains(name) || name.endsWith(".source");
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
    throw ErrorCode.PRICES_DIFFER.error(typed + ": " + why, lines.toArray(String[]::new));
  }

  private void gpuHour(String type, Optional<Rates> ours, List<String> lines) {
    Price there = theirs.rates().gpuHour().get(type);
    Price here = ours.isPresent() ? ours.get().gpuHour().get(type) : null;
    if (there == null && here == null) {
      // Both charge whole nodes or billing units.
      return;
    }
    lines.add(
        "an hour of %s: %s by the estimate, %s"
            .formatted(
                type,
                there == null ? "no price" : there.price() + " " + theirs.rates().currency(),
                here == null
                    ? "and you have no price for it"
                    : "%s %s by your price book '%s'"
                        .formatted(
                            here.price(),
                            ours.orElseThrow().currency(),
                            ours.orElseThrow().book())));
  }

  private String total(Optional<Rates> ours) {
    String none = "and it can't be said by your prices";
    try {
      return ours.isEmpty() ? none : theirs.at(ours.get()).total() + " by your prices";
    } catch (NexaException notPriced) {
      return none;
    }
  }

  /**
   * Returns the rates of the approver's default cluster, for an estimate whose cluster is unknown
   * here.
   */
  private Optional<Rates> usual() {
    try {
      ClusterProfile cluster = context.configs().cluster(Prepared.clusterName(context));
      return Optional.of(Rates.of(context.configs().prices(cluster), key(cluster)));
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
    Optional<ApiTokens> tokens = ApiTokens.ofApproved(limits);
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
        key.billingRule(),
        tokens.isPresent() ? List.of(tokens.get().model()) : List.of());
  }
}
