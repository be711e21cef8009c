/** The commands of pipelines. */
package dev.nexa.slurm.command.pipeline;
