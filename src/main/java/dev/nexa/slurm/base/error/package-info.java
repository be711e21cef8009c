/** Exceptions with advice for the user, spelling suggestions, and the exit statuses. */
package dev.nexa.slurm.base.error;
