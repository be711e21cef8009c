/** The command doctor: checks of the workspace, its tiers, the rules and the cluster. */
package dev.nexa.slurm.command.workspace.doctor;
