/** The program itself: the jar it runs from, and the native files that lie beside it. */
@NullMarked
package dev.nexa.slurm.base.program;

import org.jspecify.annotations.NullMarked;
