/** Estimates GPU-hours from FLOPs, and GPU memory, from the size of a model. Pure. */
package dev.nexa.slurm.job.estimate.model;
