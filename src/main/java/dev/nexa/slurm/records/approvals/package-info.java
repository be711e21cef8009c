/** Signed approvals: their files, whose signatures count, which runs they cover, and their uses. */
package dev.nexa.slurm.records.approvals;
