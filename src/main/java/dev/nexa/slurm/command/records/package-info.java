/** The commands reconcile, audit, usage and runs. */
package dev.nexa.slurm.command.records;
