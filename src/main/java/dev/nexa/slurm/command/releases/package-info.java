/** The commands about releases. */
package dev.nexa.slurm.command.releases;
