/**
 * Estimates the most that a plan can cost and its expected cost, from its resources, prices and
 * past runs. Money is exact.
 */
package dev.nexa.slurm.job.estimate;
