/** The interface to a scheduler: submit, list the queue, read accounting, cancel. */
package dev.nexa.slurm.cluster.scheduler;
