/** Estimates GPU-hours from FLOPs, and GPU memory, from the size of a model. Pure. */
@NullMarked
package dev.nexa.slurm.job.estimate.model;

import org.jspecify.annotations.NullMarked;
