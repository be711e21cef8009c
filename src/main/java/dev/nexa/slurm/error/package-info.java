/** Failures that say what to do next. */
@NullMarked
package dev.nexa.slurm.error;

import org.jspecify.annotations.NullMarked;
