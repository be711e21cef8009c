/** The commands submit, estimate, render, status, logs, cancel, interrupt and rerun. */
@NullMarked
package dev.nexa.slurm.command.jobs;

import org.jspecify.annotations.NullMarked;
