/** Changes a run that exists: cancel, interrupt, rerun. */
@NullMarked
package dev.nexa.slurm.run.control;

import org.jspecify.annotations.NullMarked;
