/** The commands of data stages, which jobs run on the nodes. */
@NullMarked
package dev.nexa.slurm.command.data;

import org.jspecify.annotations.NullMarked;
