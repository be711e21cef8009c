/** Imported bills and API usage. Each row is stored once. */
@NullMarked
package dev.nexa.slurm.money.bills;

import org.jspecify.annotations.NullMarked;
