/** What a plan can cost. Pure. */
@NullMarked
package dev.nexa.slurm.estimate;

import org.jspecify.annotations.NullMarked;
