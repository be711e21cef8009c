/**
 * The ledger's lines, one for each time a run ended: writing, reading, checking and repairing them.
 */
package dev.nexa.slurm.money.ledger;
