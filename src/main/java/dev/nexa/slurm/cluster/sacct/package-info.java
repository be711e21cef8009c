/** Reads sacct's rows, live or from a dump of any Slurm version, and adds up what each job used. */
package dev.nexa.slurm.cluster.sacct;
