/** The command init. */
@NullMarked
package dev.nexa.slurm.command.workspace;

import org.jspecify.annotations.NullMarked;
