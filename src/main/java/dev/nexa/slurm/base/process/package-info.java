/** Runs programs, and identifies processes. The only package that uses Commons Exec. */
package dev.nexa.slurm.base.process;
