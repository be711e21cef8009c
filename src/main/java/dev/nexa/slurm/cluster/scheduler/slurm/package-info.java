/**
 * Builds the calls of Slurm's commands (sbatch, squeue, sacct, scancel, scontrol) and reads their
 * answers.
 */
package dev.nexa.slurm.cluster.scheduler.slurm;
