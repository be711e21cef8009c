/** The command serve. */
package dev.nexa.slurm.command.serve;
