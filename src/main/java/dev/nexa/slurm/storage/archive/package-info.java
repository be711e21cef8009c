/** Archives of runs: one checked bundle for each run in a folder or a bucket, and the way back. */
@NullMarked
package dev.nexa.slurm.storage.archive;

import org.jspecify.annotations.NullMarked;
