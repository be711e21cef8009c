/** The life of a submitted pipeline: its runs wait for each other in the scheduler. */
@NullMarked
package dev.nexa.slurm.pipeline.run;

import org.jspecify.annotations.NullMarked;
