/** How far a long command is. The code that does the work reports it, and the edge draws it. */
@NullMarked
package dev.nexa.slurm.base.progress;

import org.jspecify.annotations.NullMarked;
