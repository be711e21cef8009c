/** Statistics with a seed: the same numbers give the same results on every machine. */
package dev.nexa.slurm.data.stats;
