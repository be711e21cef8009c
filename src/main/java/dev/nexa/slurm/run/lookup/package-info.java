/** Finds runs, their logs and their schedulers. */
package dev.nexa.slurm.run.lookup;
