/** Decides whether a run may start: budgets, approvals and their uses. */
package dev.nexa.slurm.run.decision;
