package dev.nexa.slurm.job.estimate.model;

import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;

/**
 * The floating point operations for one token; derived in docs/estimates.md.
 *
 * @param active the parameters that work on one token: all of a dense model
 * @param trains the parameters that are trained
 * @param trained the parameters of an adapter
 * @param recomputes whether activations are computed again in the backward pass
 * @param teacher the parameters of a teacher that reads the same token; 0 for none
 * @param attention forward operations of attention for one token: 2 x layers x hidden x sequence; 0
 *     if the shape is unknown
 */
public record TrainingFlops(
    long active, Trains trains, long trained, boolean recomputes, long teacher, double attention) {

  /**
   * Attention below this share of the weights' operations is ignored as smaller than the
   * uncertainty.
   */
  private static final double MATTERS = 0.1;

  /** Operations for each weight: a multiplication and an addition. */
  private static final double FORWARD = 2;

  /** Returns the operations for one token. */
  public double perToken() {
    double weights = FORWARD * active;
    double read = attention >= MATTERS * weights ? weights + attention : weights;
    double passes =
        switch (trains) {
          case NOTHING -> 1;
          case ADAPTER -> 2; // Frozen weights only pass gradients on.
          case ALL -> 3;
        };
    double again = recomputes && trains != Trains.NOTHING ? 1 : 0;
    double adapter = trains == Trains.ADAPTER ? 3 * FORWARD * trained : 0;
    return read * (passes + again) + adapter + FORWARD * teacher;
  }
}
