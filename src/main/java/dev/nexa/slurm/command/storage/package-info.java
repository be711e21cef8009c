/** The commands storage and cleanup: the folders of the tiers, their sizes, and what may go. */
@NullMarked
package dev.nexa.slurm.command.storage;

import org.jspecify.annotations.NullMarked;
