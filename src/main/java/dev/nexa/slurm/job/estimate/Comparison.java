package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.units.Money;
import java.time.Instant;
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
    for (PartitionOffer offer : offers) {
      if (offer.asked()) {
        return Optional.of(offer);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the cheapest offer; of equal ones the first. Skips offers that do not fit or cannot be
   * compared; empty if none is left.
   */
  public Optional<PartitionOffer> cheapest() {
    Optional<PartitionOffer> best = Optional.empty();
    for (PartitionOffer offer : offers) {
      if (isMeant(offer)
          && (best.isEmpty()
              || offer.cost().orElseThrow().compareTo(best.get().cost().orElseThrow()) < 0)) {
        best = Optional.of(offer);
      }
    }
    return best;
  }

  /**
   * Returns the offer that ends first; if no start is known, the offer with the shortest run.
   *
   * <p>Slurm is asked for one start after the other, so differences below a minute mean nothing. Of
   * the offers within a minute of the first end, returns the requested offer, else the first in the
   * list.
   */
  public Optional<PartitionOffer> fastest() {
    boolean known = startsKnown();
    long first = Long.MAX_VALUE;
    for (PartitionOffer offer : offers) {
      if (isMeant(offer) && offer.start().isPresent() == known) {
        first = Math.min(first, done(offer));
      }
    }
    Optional<PartitionOffer> best = Optional.empty();
    for (PartitionOffer offer : offers) {
      boolean isFirst =
          isMeant(offer) && offer.start().isPresent() == known && done(offer) - first < NOISE;
      if (isFirst && (best.isEmpty() || (offer.asked() && !best.get().asked()))) {
        best = Optional.of(offer);
      }
    }
    return best;
  }

  private boolean startsKnown() {
    for (PartitionOffer offer : offers) {
      if (isMeant(offer) && offer.start().isPresent()) {
        return true;
      }
    }
    return false;
  }

  private static boolean isMeant(PartitionOffer offer) {
    return offer.misfit().isEmpty()
        && offer.tooLarge().isEmpty()
        && offer.comparable()
        && offer.cost().isPresent();
  }

  private static long done(PartitionOffer offer) {
    Optional<Instant> end = offer.end();
    return end.isPresent() ? end.get().getEpochSecond() : offer.seconds();
  }
}
