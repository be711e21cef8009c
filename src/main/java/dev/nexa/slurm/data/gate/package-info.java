/** Gates: whether an evaluation is good enough, and no worse than a baseline. */
@NullMarked
package dev.nexa.slurm.data.gate;

import org.jspecify.annotations.NullMarked;
