/** How far a long command is: who does the work reports it, and the edge draws it. */
@NullMarked
package dev.nexa.slurm.base.progress;

import org.jspecify.annotations.NullMarked;
