/** The command cron. */
@NullMarked
package dev.nexa.slurm.command.cron;

import org.jspecify.annotations.NullMarked;
