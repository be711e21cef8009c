/** Exceptions with advice for the user, spelling suggestions, and the exit statuses. */
@NullMarked
package dev.nexa.slurm.base.error;

import org.jspecify.annotations.NullMarked;
