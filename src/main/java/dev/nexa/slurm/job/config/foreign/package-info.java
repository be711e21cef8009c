/** The files and scripts of other tools, read as ours. */
@NullMarked
package dev.nexa.slurm.job.config.foreign;

import org.jspecify.annotations.NullMarked;
