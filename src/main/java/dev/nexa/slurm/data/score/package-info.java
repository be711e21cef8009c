/** Scores of a judge: its requests, its answers, and what they come to. */
@NullMarked
package dev.nexa.slurm.data.score;

import org.jspecify.annotations.NullMarked;
