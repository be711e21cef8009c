/** The options, the output and the errors that all families of commands share. */
@NullMarked
package dev.nexa.slurm.command.shared;

import org.jspecify.annotations.NullMarked;
