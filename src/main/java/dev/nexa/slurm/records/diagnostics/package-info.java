/**
 * The findings of checks of nodes: the lines that a job of {@code diag} leaves beside its results.
 */
package dev.nexa.slurm.records.diagnostics;
