/** {@code data filter}: keeps the rows that pass (docs/data.md). */
@NullMarked
package dev.nexa.slurm.data.filter;

import org.jspecify.annotations.NullMarked;
