/** Compares budgets with what is spent and reserved. */
@NullMarked
package dev.nexa.slurm.money.budgets;

import org.jspecify.annotations.NullMarked;
