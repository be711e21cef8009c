/** The command {@code monitor}: what was sampled in a run, drawn in the terminal. */
package dev.nexa.slurm.command.monitor;
