/** Runs programs, and identifies processes. The only package that uses Commons Exec. */
@NullMarked
package dev.nexa.slurm.base.process;

import org.jspecify.annotations.NullMarked;
