/** The command init. */
package dev.nexa.slurm.command.workspace;
