/**
 * What a run will probably take and whether it fits into its GPUs, from its numbers alone. Every
 * constant is derived in docs/estimates.md and held against published runs there.
 */
@NullMarked
package dev.nexa.slurm.estimate.analytic;

import org.jspecify.annotations.NullMarked;
