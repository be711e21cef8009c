/** Submits jobs so that each submission has exactly one job, wherever a process dies. */
@NullMarked
package dev.nexa.slurm.run.submit;

import org.jspecify.annotations.NullMarked;
