/** Makes price books from a provider's price list. */
@NullMarked
package dev.nexa.slurm.money.prices;

import org.jspecify.annotations.NullMarked;
