/** The commands of pipelines. */
@NullMarked
package dev.nexa.slurm.command.pipeline;

import org.jspecify.annotations.NullMarked;
