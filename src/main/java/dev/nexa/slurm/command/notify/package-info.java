/** The commands {@code notify test}, {@code notify list} and {@code notify resend}. */
package dev.nexa.slurm.command.notify;
