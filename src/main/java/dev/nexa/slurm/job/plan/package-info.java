/** Resolves a run's config and a cluster profile to a plan: nodes, GPUs, partition and limits. */
@NullMarked
package dev.nexa.slurm.job.plan;

import org.jspecify.annotations.NullMarked;
