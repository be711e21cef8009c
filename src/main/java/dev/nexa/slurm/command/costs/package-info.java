/** The commands costs and prices. */
@NullMarked
package dev.nexa.slurm.command.costs;

import org.jspecify.annotations.NullMarked;
