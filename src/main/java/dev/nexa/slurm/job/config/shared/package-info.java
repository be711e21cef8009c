/** Sections and names that the files of runs and of sites have in common. */
@NullMarked
package dev.nexa.slurm.job.config.shared;

import org.jspecify.annotations.NullMarked;
