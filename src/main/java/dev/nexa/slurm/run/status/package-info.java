/** What {@code status} and {@code --wait} show of runs: state, cost so far, and why a run waits. */
@NullMarked
package dev.nexa.slurm.run.status;

import org.jspecify.annotations.NullMarked;
