/** The file of a run: its keys, how they override each other, and the records that they become. */
package dev.nexa.slurm.job.config.run;
