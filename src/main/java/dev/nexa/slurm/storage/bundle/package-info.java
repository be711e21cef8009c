/** Many files as one tar archive with Zstandard, written and read part by part. */
package dev.nexa.slurm.storage.bundle;
