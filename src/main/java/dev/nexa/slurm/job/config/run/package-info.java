/** The file of a run: its keys, how they override each other, and the records that they become. */
@NullMarked
package dev.nexa.slurm.job.config.run;

import org.jspecify.annotations.NullMarked;
