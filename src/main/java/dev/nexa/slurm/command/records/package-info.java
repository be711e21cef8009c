/** The commands reconcile, audit, usage and runs. */
@NullMarked
package dev.nexa.slurm.command.records;

import org.jspecify.annotations.NullMarked;
