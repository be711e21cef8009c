/** Scores of a judge: its requests, its answers, and their sums. */
package dev.nexa.slurm.data.score;
