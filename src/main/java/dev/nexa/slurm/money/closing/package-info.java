/** Signed statements of months that are over, and the adjustments that follow. */
@NullMarked
package dev.nexa.slurm.money.closing;

import org.jspecify.annotations.NullMarked;
