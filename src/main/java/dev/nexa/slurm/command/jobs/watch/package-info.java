/** The full-screen view of {@code status --watch}. Only this package uses JLine. */
package dev.nexa.slurm.command.jobs.watch;
