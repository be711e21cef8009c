/** What the tasks of a run left in results/: metrics, failures, unfit nodes. */
package dev.nexa.slurm.run.results;
