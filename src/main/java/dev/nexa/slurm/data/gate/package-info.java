/** Gates: whether an evaluation is good enough, and no worse than a baseline. */
package dev.nexa.slurm.data.gate;
