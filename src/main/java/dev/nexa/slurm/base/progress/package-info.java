/** How far a long command is. The code that does the work reports it, and the edge draws it. */
package dev.nexa.slurm.base.progress;
