/** Finds runs, their logs and their schedulers. */
@NullMarked
package dev.nexa.slurm.run.lookup;

import org.jspecify.annotations.NullMarked;
