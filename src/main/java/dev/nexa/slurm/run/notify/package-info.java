/** Sends the notifications of an outbox to their channels. */
package dev.nexa.slurm.run.notify;
