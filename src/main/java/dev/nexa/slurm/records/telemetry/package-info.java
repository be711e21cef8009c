/**
 * Samples that were taken while a run's tasks ran: the files that {@code templates/lib/sampler.sh}
 * leaves in {@code results/}, their summary, and the loss curves of the runners' own files. Memory
 * is bounded. Broken lines are counted and never stop a reader.
 */
package dev.nexa.slurm.records.telemetry;
