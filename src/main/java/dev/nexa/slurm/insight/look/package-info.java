/** A first look at accounting: what jobs used, cost and lost, without a workspace. */
@org.jspecify.annotations.NullMarked
package dev.nexa.slurm.insight.look;
