/** What runs jobs: commands built, run, and their text read. */
@NullMarked
package dev.nexa.slurm.scheduler;

import org.jspecify.annotations.NullMarked;
