/**
 * Builds the calls of Slurm's commands (sbatch, squeue, sacct, scancel, scontrol) and reads their
 * answers.
 */
@NullMarked
package dev.nexa.slurm.cluster.scheduler.slurm;

import org.jspecify.annotations.NullMarked;
