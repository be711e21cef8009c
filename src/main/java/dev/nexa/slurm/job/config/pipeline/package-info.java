/** The file of a pipeline. */
@NullMarked
package dev.nexa.slurm.job.config.pipeline;

import org.jspecify.annotations.NullMarked;
