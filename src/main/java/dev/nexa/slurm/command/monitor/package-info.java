/** The command {@code monitor}: what was sampled in a run, drawn in the terminal. */
@NullMarked
package dev.nexa.slurm.command.monitor;

import org.jspecify.annotations.NullMarked;
