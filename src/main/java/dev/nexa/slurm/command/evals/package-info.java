/** The command that compares evaluated runs. */
@NullMarked
package dev.nexa.slurm.command.evals;

import org.jspecify.annotations.NullMarked;
