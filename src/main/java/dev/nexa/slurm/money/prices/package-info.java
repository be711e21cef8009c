/** Makes price books from a provider's price list. */
package dev.nexa.slurm.money.prices;
