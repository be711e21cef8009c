/** Packs the working tree of a run: which files, which bytes, which digest. */
package dev.nexa.slurm.job.code;
