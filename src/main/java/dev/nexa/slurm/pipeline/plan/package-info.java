/** A pipeline's file becomes planned and priced stages; pure but for reading files. */
@NullMarked
package dev.nexa.slurm.pipeline.plan;

import org.jspecify.annotations.NullMarked;
