/** The commands {@code datasets} and {@code lineage}. */
package dev.nexa.slurm.command.datasets;
