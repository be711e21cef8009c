/** The commands storage, cleanup and sync: the folders of the tiers, what may go, and S3. */
package dev.nexa.slurm.command.storage;
