/** The lineage of runs and datasets: what each was made from. */
package dev.nexa.slurm.storage.lineage;
