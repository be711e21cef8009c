/** Packs the working tree of a run: which files, which bytes, which digest. */
@NullMarked
package dev.nexa.slurm.job.code;

import org.jspecify.annotations.NullMarked;
