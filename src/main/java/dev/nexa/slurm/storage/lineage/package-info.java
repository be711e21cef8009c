/** Which runs and datasets were made of which others. */
package dev.nexa.slurm.storage.lineage;
