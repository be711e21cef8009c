/** Signed approvals: their files, whose signatures count, which runs they cover, and their uses. */
@NullMarked
package dev.nexa.slurm.records.approvals;

import org.jspecify.annotations.NullMarked;
