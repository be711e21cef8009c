/** The interface to a scheduler: submit, list the queue, read accounting, cancel. */
@NullMarked
package dev.nexa.slurm.cluster.scheduler;

import org.jspecify.annotations.NullMarked;
