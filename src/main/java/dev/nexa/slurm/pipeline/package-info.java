/** Runs that wait for each other. */
@NullMarked
package dev.nexa.slurm.pipeline;

import org.jspecify.annotations.NullMarked;
