/** The run folder: events, manifest, cost record, ledger. */
@NullMarked
package dev.nexa.slurm.journal;

import org.jspecify.annotations.NullMarked;
