/** The registry of datasets: its versions, the checksums of their files. */
package dev.nexa.slurm.storage.datasets;
