/**
 * The facts about runs in {@code status} and {@code --wait}: state, cost so far, and why a run
 * waits.
 */
@NullMarked
package dev.nexa.slurm.run.status;

import org.jspecify.annotations.NullMarked;
