/** The file of a pipeline. */
package dev.nexa.slurm.job.config.pipeline;
