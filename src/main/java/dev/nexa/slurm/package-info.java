/**
 * Estimates the cost of an ML team's Slurm jobs, submits each job exactly once, and records its
 * actual cost.
 *
 * <p>The folders below are rooms (docs/architecture.md). A room imports only from the rooms before
 * it. References are never null unless marked {@code @Nullable}.
 */
package dev.nexa.slurm;
