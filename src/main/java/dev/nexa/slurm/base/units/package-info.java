/**
 * Values with units: money, sizes, durations, Slurm's time limits, host lists, array indices and
 * billing weights.
 */
package dev.nexa.slurm.base.units;
