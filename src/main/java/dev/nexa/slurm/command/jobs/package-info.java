/** The commands submit, estimate, render, status, logs, cancel, interrupt and rerun. */
package dev.nexa.slurm.command.jobs;
