/**
 * Derives a run's state, manifest, cost file and ledger line from the scheduler's rows. Audits and
 * repairs these records.
 */
package dev.nexa.slurm.run.reconcile;
