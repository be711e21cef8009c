/** Compares budgets with what is spent and reserved. */
package dev.nexa.slurm.money.budgets;
