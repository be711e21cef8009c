/** The key {@code data} of a run: one class for the keys of each step. */
@NullMarked
package dev.nexa.slurm.job.config.steps;

import org.jspecify.annotations.NullMarked;
