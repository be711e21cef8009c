/** Notifications that wait or were sent: one document for each, in the user's own outbox. */
package dev.nexa.slurm.records.notices;
