/** The files and scripts of other tools, read as ours. */
package dev.nexa.slurm.job.config.foreign;
