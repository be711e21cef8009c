/** Scores of a judge: its requests, its answers, and their sums. */
@NullMarked
package dev.nexa.slurm.data.score;

import org.jspecify.annotations.NullMarked;
