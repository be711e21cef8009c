/** The full-screen view of {@code status --watch}. Only this package uses JLine. */
@NullMarked
package dev.nexa.slurm.command.jobs.watch;

import org.jspecify.annotations.NullMarked;
