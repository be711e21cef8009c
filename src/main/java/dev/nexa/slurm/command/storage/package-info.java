/** The commands storage, cleanup and sync: the folders of the tiers, what may go, and S3. */
@NullMarked
package dev.nexa.slurm.command.storage;

import org.jspecify.annotations.NullMarked;
