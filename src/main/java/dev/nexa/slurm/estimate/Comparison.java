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
  private static final long NOISE = 60;

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

  /**
   * The one that is done first; where starts are not known, the one that takes least time. Slurm is
   * asked for one after the other, so seconds tell nothing: of those within a minute, what was
   * asked for, else the first.
   */
  public Optional<Offer> fastest() {
    boolean known = startsKnown();
    long first = Long.MAX_VALUE;
    for (Offer offer : offers) {
      if (isMeant(offer) && offer.start().isPresent() == known) {
        first = Math.min(first, done(offer));
      }
    }
    Optional<Offer> best = Optional.empty();
    for (Offer offer : offers) {
      boolean isFirst =
          isMeant(offer) && offer.start().isPresent() == known && done(offer) - first < NOISE;
      if (isFirst && (best.isEmpty() || (offer.asked() && !best.get().asked()))) {
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
