/** Signed statements of months that are over, and the adjustments that follow. */
package dev.nexa.slurm.money.closing;
