/** Decides whether a run may start: budgets, approvals and their uses. */
@NullMarked
package dev.nexa.slurm.run.decision;

import org.jspecify.annotations.NullMarked;
