/** From accounting rows to a run's status, manifest and cost. */
@NullMarked
package dev.nexa.slurm.reconcile;

import org.jspecify.annotations.NullMarked;
