/** What checks of nodes found: the lines that a job of {@code diag} leaves beside its results. */
package dev.nexa.slurm.records.diagnostics;
