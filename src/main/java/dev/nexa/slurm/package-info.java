/**
 * What an ML team's Slurm job will cost, submitted exactly once, and what it did cost.
 *
 * <p>The packages below this one are the stages a run goes through; imports point only towards
 * earlier stages. References are never null unless marked {@code @Nullable}.
 */
@NullMarked
package dev.nexa.slurm;

import org.jspecify.annotations.NullMarked;
