/** A scheduler on this machine that behaves like Slurm, for laptops and tests. */
@NullMarked
package dev.nexa.slurm.cluster.scheduler.local;

import org.jspecify.annotations.NullMarked;
