/** This machine as a scheduler, for the first run and for tests. */
@NullMarked
package dev.nexa.slurm.scheduler.local;

import org.jspecify.annotations.NullMarked;
