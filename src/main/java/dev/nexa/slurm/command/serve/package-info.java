/** The command serve. */
@NullMarked
package dev.nexa.slurm.command.serve;

import org.jspecify.annotations.NullMarked;
