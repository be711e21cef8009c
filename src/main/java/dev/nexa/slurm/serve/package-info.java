/** Servers that run: where they are, what guards them, whether they answer, what they cost. */
@NullMarked
package dev.nexa.slurm.serve;

import org.jspecify.annotations.NullMarked;
