/** Sends the notifications of an outbox to their channels. */
@NullMarked
package dev.nexa.slurm.run.notify;

import org.jspecify.annotations.NullMarked;
