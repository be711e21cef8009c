package dev.nexa.slurm.estimate;

import dev.nexa.slurm.units.Money;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The ways to run a job, against each other.
 *
 * @param shorter a time limit that would cost less
 * @param shorterTotal the most it can cost with that
 */
public record Comparison(
    List<Offer> offers, Optional<TimeLimitAdvice> shorter, Optional<Money> shorterTotal) {

  /** What the config says. */
  public Optional<Offer> asked() {
    for (Offer offer : offers) {
      if (offer.asked()) {
        return Optional.of(offer);
      }
    }
    return Optional.empty();
  }

  /** The one that costs least; of those that cost the same, the first. */
  public Optional<Offer> cheapest() {
    Optional<Offer> best = Optional.empty();
    for (Offer offer : offers) {
      if (isMeant(offer)
          && (best.isEmpty()
              || offer.cost().orElseThrow().compareTo(best.get().cost().orElseThrow()) < 0)) {
        best = Optional.of(offer);
      }
    }
    return best;
  }

  /** The one that is done first; where starts are not known, the one that takes least time. */
  public Optional<Offer> fastest() {
    boolean known = startsKnown();
    Optional<Offer> best = Optional.empty();
    for (Offer offer : offers) {
      if (isMeant(offer)
          && offer.start().isPresent() == known
          && (best.isEmpty() || done(offer) < done(best.get()))) {
        best = Optional.of(offer);
      }
    }
    return best;
  }

  private boolean startsKnown() {
    for (Offer offer : offers) {
      if (isMeant(offer) && offer.start().isPresent()) {
        return true;
      }
    }
    return false;
  }

  private static boolean isMeant(Offer offer) {
    return offer.misfit().isEmpty()
        && offer.tooLarge().isEmpty()
        && offer.comparable()
        && offer.cost().isPresent();
  }

  private static long done(Offer offer) {
    Optional<Instant> end = offer.end();
    return end.isPresent() ? end.get().getEpochSecond() : offer.seconds();
  }
}
