/** Changes a run that exists: cancel, interrupt, rerun. */
package dev.nexa.slurm.run.control;
