/** Archives of runs: one checked bundle for each run in a folder or a bucket, and the way back. */
package dev.nexa.slurm.storage.archive;
