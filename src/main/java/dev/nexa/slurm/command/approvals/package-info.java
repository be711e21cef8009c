/** The commands approve, approvals and policy. */
package dev.nexa.slurm.command.approvals;
