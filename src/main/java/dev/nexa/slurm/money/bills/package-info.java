/** Imported bills and API usage. Each row is stored once. */
package dev.nexa.slurm.money.bills;
