/** Releases: the package of a run's model, its document, its signatures. */
package dev.nexa.slurm.storage.releases;
