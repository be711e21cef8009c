/**
 * The ledger's lines, one for each time a run ended: writing, reading, checking and mending them.
 */
@NullMarked
package dev.nexa.slurm.money.ledger;

import org.jspecify.annotations.NullMarked;
