/** The spending on each day, and what follows from it for the rest of a period. */
package dev.nexa.slurm.money.forecast;
