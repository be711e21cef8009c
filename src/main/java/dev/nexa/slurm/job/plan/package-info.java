/** Resolves a run's config and a cluster profile to a plan: nodes, GPUs, partition and limits. */
package dev.nexa.slurm.job.plan;
