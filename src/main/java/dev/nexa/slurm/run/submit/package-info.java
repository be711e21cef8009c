/** Submits jobs so that each submission has exactly one job, wherever a process dies. */
package dev.nexa.slurm.run.submit;
