/** The commands of storage: {@code sync}. */
@NullMarked
package dev.nexa.slurm.command.storage;

import org.jspecify.annotations.NullMarked;
