/** Statistics with a seed: the same numbers give the same results on every machine. */
@NullMarked
package dev.nexa.slurm.data.stats;

import org.jspecify.annotations.NullMarked;
