/** The life of a submitted pipeline: its runs wait for each other in the scheduler. */
package dev.nexa.slurm.pipeline.run;
