/** Compares the records of runs with their journals and with accounting, and repairs them. */
package dev.nexa.slurm.run.audit;
