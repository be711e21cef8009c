/** Runs that wait for each other. */
package dev.nexa.slurm.pipeline;
