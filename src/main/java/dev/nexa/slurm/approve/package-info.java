/** Who allowed a run, and what exactly: signed statements, and whether they cover what is asked. */
@NullMarked
package dev.nexa.slurm.approve;

import org.jspecify.annotations.NullMarked;
