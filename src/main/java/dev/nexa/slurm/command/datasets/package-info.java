/** The commands {@code datasets} and {@code lineage}. */
@NullMarked
package dev.nexa.slurm.command.datasets;

import org.jspecify.annotations.NullMarked;
