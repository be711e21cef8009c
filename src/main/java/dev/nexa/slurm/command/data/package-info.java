/** The commands of data stages, which jobs run on the nodes. */
package dev.nexa.slurm.command.data;
