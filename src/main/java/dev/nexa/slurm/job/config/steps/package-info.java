/** The key {@code data} of a run: one class for the keys of each step. */
package dev.nexa.slurm.job.config.steps;
