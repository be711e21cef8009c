/** What was spent on each day, and what follows from it for the rest of a period. */
@NullMarked
package dev.nexa.slurm.money.forecast;

import org.jspecify.annotations.NullMarked;
