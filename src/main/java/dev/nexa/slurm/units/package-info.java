/** Values with units: money, time limits, memory, index ranges. Pure. */
@NullMarked
package dev.nexa.slurm.units;

import org.jspecify.annotations.NullMarked;
