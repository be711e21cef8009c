/** Reads sacct's rows, live or from a dump of any Slurm version, and adds up what each job used. */
@NullMarked
package dev.nexa.slurm.cluster.sacct;

import org.jspecify.annotations.NullMarked;
