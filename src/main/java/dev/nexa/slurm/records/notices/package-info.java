/** Notifications that wait or were sent: one document for each, in the user's own outbox. */
@NullMarked
package dev.nexa.slurm.records.notices;

import org.jspecify.annotations.NullMarked;
