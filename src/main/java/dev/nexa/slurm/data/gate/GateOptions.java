package dev.nexa.slurm.data.gate;

import java.util.List;

/**
 * How a gate decides.
 *
 * @param alpha the probability with which a rule fails although nothing became worse
 * @param seed of the bootstrap
 * @param resamples how often the bootstrap draws the items at most
 * @param maxMissing the largest share of items without a value, or without a partner
 * @param minItems the fewest items that a decision needs
 */
public record GateOptions(
    List<Rule> rules, double alpha, long seed, int resamples, double maxMissing, int minItems) {}
