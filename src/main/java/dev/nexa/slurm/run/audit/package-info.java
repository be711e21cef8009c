/** Compares the records of runs with their journals and with accounting, and repairs them. */
@NullMarked
package dev.nexa.slurm.run.audit;

import org.jspecify.annotations.NullMarked;
