/** The command diag. */
package dev.nexa.slurm.command.nodes;
