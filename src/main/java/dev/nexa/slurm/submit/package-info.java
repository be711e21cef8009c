/** Exactly one job for one submission, whatever dies when. */
@NullMarked
package dev.nexa.slurm.submit;

import org.jspecify.annotations.NullMarked;
