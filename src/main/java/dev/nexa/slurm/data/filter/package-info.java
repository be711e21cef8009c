/** {@code data filter}: keeps the rows that pass (docs/data.md). */
package dev.nexa.slurm.data.filter;
