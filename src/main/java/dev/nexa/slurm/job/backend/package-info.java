/** One class for each runner: its command line, its config files and its options. */
package dev.nexa.slurm.job.backend;
