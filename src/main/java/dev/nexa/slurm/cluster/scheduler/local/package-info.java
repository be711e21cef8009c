/** A scheduler on this machine that behaves like Slurm, for laptops and tests. */
package dev.nexa.slurm.cluster.scheduler.local;
