/** A pipeline's file becomes planned and priced stages; pure but for reading files. */
package dev.nexa.slurm.pipeline.plan;
