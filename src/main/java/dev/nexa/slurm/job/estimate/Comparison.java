package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.units.Money;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The ways to run a job, compared.
 *
 * @param offers one offer for each way
 * @param shorter a shorter time limit that would cost less; empty if there is no advice
 * @param shorterTotal the reservation with that limit
 */
public record Comparison(
    List<PartitionOffer> offers, Optional<TimeLimitAdvice> shorter, Optional<Money> shorterTotal) {
  private static final long NOISE = 60;

  /** Returns the offer that the config asks for; empty if it is not among the offers. */
  public Optional<PartitionOffer> asked() {
    return offers.stream().filter(PartitionOffer::asked).findFirst();
  }

  /**
   * Returns the cheapest offer; of equal ones the first. Skips offers that do not fit or cannot be
   * compared; empty if none is left.
   */
  public Optional<PartitionOffer> cheapest() {
    return offers.stream()
        .filter(Comparison::isMeant)
        .min(Comparator.comparing(offer -> offer.cost().orElseThrow()));
  }

  /**
   * Returns the offer that ends first; if no start is known, the offer with the shortest run.
   *
   * <p>Slurm is asked for one start after the other, so differences below a minute mean nothing. Of
   * the offers within a minute of the first end, returns the requested offer, else the first in the
   * list.
   */
  public Optional<PartitionOffer> fastest() {
    List<PartitionOffer> meant = new ArrayList<>(offers);
    meant.removeIf(offer -> !isMeant(offer));
    boolean known = meant.stream().anyMatch(offer -> offer.start().isPresent());
    meant.removeIf(offer -> offer.start().isPresent() != known);
    long first = meant.stream().mapToLong(Comparison::done).min().orElse(0);
    meant.removeIf(offer -> done(offer) - first >= NOISE);
    Optional<PartitionOffer> asked = meant.stream().filter(PartitionOffer::asked).findFirst();
    return asked.or(() -> meant.stream().findFirst());
  }

  private static boolean isMeant(PartitionOffer offer) {
    return offer.misfit().isEmpty()
        && offer.tooLarge().isEmpty()
        && offer.comparable()
        && offer.cost().isPresent();
  }

  private static long done(PartitionOffer offer) {
    return offer.end().map(Instant::getEpochSecond).orElseGet(offer::seconds);
  }
}
