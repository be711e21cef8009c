/**
 * The facts about runs in {@code status} and {@code --wait}: state, cost so far, and why a run
 * waits.
 */
package dev.nexa.slurm.run.status;
