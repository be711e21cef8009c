/** The options, the output and the errors that all families of commands share. */
package dev.nexa.slurm.command.shared;
