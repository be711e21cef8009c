/** Slurm: sbatch, squeue, sacct, scancel. */
@NullMarked
package dev.nexa.slurm.scheduler.slurm;

import org.jspecify.annotations.NullMarked;
