/** Sections and names that the files of runs and of sites have in common. */
package dev.nexa.slurm.job.config.shared;
