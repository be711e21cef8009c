/**
 * Derives a run's state, manifest, cost file and ledger line from the scheduler's rows. Audits and
 * repairs these records.
 */
@NullMarked
package dev.nexa.slurm.run.reconcile;

import org.jspecify.annotations.NullMarked;
