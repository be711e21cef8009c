/** The command cron. */
package dev.nexa.slurm.command.cron;
