/** The commands {@code notify test}, {@code notify list} and {@code notify resend}. */
@NullMarked
package dev.nexa.slurm.command.notify;

import org.jspecify.annotations.NullMarked;
