/** One class for each runner: its command line, its config files and its options. */
@NullMarked
package dev.nexa.slurm.job.backend;

import org.jspecify.annotations.NullMarked;
