/** The program itself: the jar it runs from, and the native files that lie beside it. */
package dev.nexa.slurm.base.program;
