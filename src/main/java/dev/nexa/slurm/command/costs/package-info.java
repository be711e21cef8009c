/** The commands costs and prices. */
package dev.nexa.slurm.command.costs;
