package dev.nexa.slurm.estimate.analytic;

import dev.nexa.slurm.estimate.analytic.MemorySetup.Trains;

/**
 * Floating point operations for one token; derived in docs/estimates.md.
 *
 * @param active parameters that work on a token: all of a dense model
 * @param trained of an adapter: its parameters
 * @param teacher parameters of a teacher that reads the same token; 0 for none
 * @param attention of one token over its sequence, forward: 2 x layers x hidden x sequence; 0 where
 *     the shape is not known
 */
public record TrainingFlops(
    long active, Trains trains, long trained, boolean recomputes, long teacher, double attention) {

  /** Below that share of the rest it is less than what is not known anyway. */
  private static final double MATTERS = 0.1;

  /** A multiplication and an addition for each weight. */
  private static final double FORWARD = 2;

  /** Operations for one token that is trained on. */
  public double perToken() {
    double read = forward();
    double passes =
        switch (trains) {
          case NOTHING -> 1;
          case ADAPTER -> 2; // Frozen weights pass gradients on and have none of their own.
          case ALL -> 3;
        };
    double again = recomputes && trains != Trains.NOTHING ? 1 : 0;
    double adapter = trains == Trains.ADAPTER ? 3 * FORWARD * trained : 0;
    return read * (passes + again) + adapter + FORWARD * teacher;
  }

  private double forward() {
    double weights = FORWARD * active;
    return attention >= MATTERS * weights ? weights + attention : weights;
  }
}
