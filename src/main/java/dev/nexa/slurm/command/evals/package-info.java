/** The command that compares evaluated runs. */
package dev.nexa.slurm.command.evals;
