/** The commands approve, approvals and policy. */
@NullMarked
package dev.nexa.slurm.command.approvals;

import org.jspecify.annotations.NullMarked;
